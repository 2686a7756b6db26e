/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts on a finished and joined model, before output: what does not pass is
 * taken out of the tables, so that no output has to know about filters.
 *
 * Commands pass by their own trace id, time, device, process and opcode, and
 * by the key of their object or their own.  An operation passes by its id, its
 * time, and its key; with a filter on device, process or opcode also a command
 * of its own must pass (or, for the process, itself be of that one).  The
 * operation of a command that stays, stays.  Serving spans are cut by time
 * and losses by time only, overflow records by time and id; anchors and accounts stay.
 */
#ifndef KVIO_FILTER_H
#define KVIO_FILTER_H

#include "model/model.h"

/* All zero lets everything pass. */
struct filter {
	bool has_ids, has_window, has_pid, has_opcode;
	u64 first_id, last_id; /* join ids, both inclusive; 0 is what is untagged */
	/* Since model_base_ns() of what all else leaves, both inclusive; all that is not fully outside stays */
	u64 from_ns, to_ns;
	u32 pid;
	u8 opcode;
	const char *key;    /* a part of the object's key or key_hex */
	const char *device; /* any name of it: "nvme1n1", "/dev/ng1n1"; all its paths pass */
};

/* "A" or "A-B": 0, -EINVAL, -ERANGE (B is less than A). */
int filter_ids(struct filter *f, const char *text);
/* "A,B" in seconds or with units, since the base: 0, -EINVAL, -ERANGE. */
int filter_window(struct filter *f, const char *text);
bool filter_any(const struct filter *f);

/*
 * Time zero of the outputs: the earliest submission, object, serving span or
 * overflow; 0 when there is nothing.  A cut in time does not move it, any
 * other cut does.
 */
u64 model_base_ns(const struct model *m);

/*
 * Takes out what does not pass, renumbers, and counts in m->cut.  Counts of
 * inputs, of the join and of collisions stay what they were.  May be called
 * several times.  0 or -ENOMEM; after an error the model can only be freed.
 */
int model_cut(struct model *m, const struct filter *f);

/* True when a name as users and semantic traces write it is one of the device. */
bool device_is_named(const struct model *m, u32 dev, const char *name);

#endif
