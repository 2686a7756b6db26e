/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the model share and nobody else includes. */
#ifndef KVIO_MODEL_TABLES_H
#define KVIO_MODEL_TABLES_H

#include <jansson.h>

#include "capture/jsonl_read.h"
#include "capture/names.h"
#include "lib/hash.h"
#include "lib/zio.h"
#include "model/model.h"

/* clang-format off */
#define CMD_COLUMNS(X) \
	X(ts_ns) X(lat_ns) X(user_data) X(slba) X(bytes) X(nlb) X(wait_ns) X(dev) X(tid) X(task) X(name) X(key) \
	X(flags) X(status) X(hwq) X(cid) X(opcode) X(attempts) X(op)
#define OP_COLUMNS(X) \
	X(trace_id) X(start_ns) X(end_ns) X(bytes) X(slot_offset) X(name) X(key) X(key_hex) X(part) X(error) X(instance) \
	X(pid) X(flags) X(join_id) X(first_cmd) X(n_cmds) X(occurrence) X(n_occurrences)
#define SPAN_COLUMNS(X) X(start_ns) X(end_ns) X(name) X(tokens) X(request_id)
/* clang-format on */

/* What a completion, or a command, is known by. */
enum identity {
	ID_USER_DATA = 1 << 0,
	ID_QUEUE = 1 << 1,
	ID_DEV = 1 << 2,
	N_IDENTITIES = 1 << 3,
};

/* A completion record until it is paired.  The device is NONE without ID_DEV. */
struct cmp_row {
	u64 ts_ns, lat_ns, user_data;
	u32 dev;
	u16 hwq, cid, status;
	u8 identity; /* enum identity */
	bool has_lat : 1, blk_status : 1, paired : 1;
};

static inline int compare_u64(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

/* What a command refers to. */
struct cmd_refs {
	u32 dev, task;
};

/* The state of loading: gone after model_finish(). */
struct loading {
	struct cmp_row *cmp;
	u32 n_cmps, cap_cmps;
	struct map64 device_at;	    /* see device_key() */
	struct map64 task_at;	    /* hash of (tid, pid, comm) -> index */
	u32 last_device, last_task; /* the previous line's, or NONE */
	u32 last_who;		    /* of the last line of a command, see jsonl_read.h */
	struct cmd_refs last_refs;  /* ... and what it referred to */
	struct known_word {
		u64 head; /* see intern_word() */
		size_t len;
		u32 id;
	} word[64];		 /* strings lately interned, by hash */
	u32 op_name[3][256];	 /* names of opcodes, see load_kvt.c */
	u32 *recent;		 /* commands that a completion may find at once, see pair.c */
	u8 cmd_class, cmp_class; /* enum identity of those pairs + 1 */
	bool tasks_missing;	 /* some commands have a tid only */
	bool tagged;		 /* records of commands, not only of completions, have hwq and cid */
	u32 n_dev_files;
	u32 cap_devices, cap_tasks, cap_overflows, cap_anchors;
	struct loss_tick *tick; /* running accounts, see loss.c */
	u32 n_ticks, cap_ticks, n_inputs;
	struct jsonl_reader *reader;
	struct names files; /* what files are called, so far */
};

/* One input being loaded. */
struct input {
	struct model *m;
	struct input_counts n;
	struct account account;
	struct account running[EV_WITNESSES]; /* of each tracer, until there is a footer */
	bool closed;			      /* a footer or the older drops line was seen */
	bool footer;			      /* ... the footer */
	bool ticks;			      /* running accounts, too */
	u64 drops;			      /* sum of older drops lines */
	u64 overflows;
	bool phases;	 /* has lines of load_phase() */
	u64 phase_bytes; /* that markers of the phase at hand have told; see load_phase() */
	bool semantic;	 /* has records of the application */
	bool device;	 /* has records of a tracer */
};

/* load.c: a running account of one tracer; that of the input is the sum of them.  0 or -ENOMEM. */
int put_running(struct input *in, u32 witness, u64 ts_ns, const struct account *a);

/* load_lines.c: a line of a kind that jsonl_read() does not know.  0 or -ENOMEM. */
int load_other_line(struct input *in, const char *line, size_t n);

/* markers.c.  0 or -ENOMEM. */
struct members;
int load_marker(struct input *in, const struct members *m, struct slice line);
/* A line that is no JSON, but PHASE_START, PROGRESS or PHASE_END of the older feature store: 1; any other: 0. */
int load_phase(struct input *in, struct slice line);
void sort_markers(struct model *m);

/* columns.c.  0 or -ENOMEM. */
int cmd_grow(struct cmd_table *t);
/* Room for n more rows. */
int cmd_rooms(struct cmd_table *t, u32 n);
/*
 * Before the first row: there will be about so many.  Columns that need not
 * grow are on huge pages from their beginning; room that is not used costs
 * nothing.
 */
void cmd_reserve(struct cmd_table *t, u64 rows);
void cmd_free(struct cmd_table *t);
int op_room(struct op_table *t);
int span_room(struct span_table *t);
/* Moves a row forward to where row `to` is, which comes behind it. */
void cmd_move(struct cmd_table *t, u32 from, u32 to);
/* Keeps the n rows of `order`, in its order. */
int cmd_permute(struct cmd_table *t, const u32 *order, u32 n);
/* The next capacity above n, 0 when there is none. */
u32 larger_cap(u32 n);
/* A new row of commands is all zero, and what is zero is best not written: it takes no memory then. */
static inline int cmd_room(struct cmd_table *t)
{
	return t->n < t->cap ? 0 : cmd_grow(t);
}

/* model.c: tables.  0 or -ENOMEM. */
int loading_start(struct model *m);
void loading_free(struct model *m);
/* Makes room for element n in the array whose pointer is at `array`. */
int grow(void *array, u32 *cap, u32 n, size_t size);
/* Puts the id of the bytes into *id; 0 for none.  `word` is for strings that repeat. */
int intern(struct model *m, struct slice s, u32 *id);
int intern_word(struct model *m, struct slice s, u32 *id);
/* What the file of those numbers was called then, as the names in loading->files tell; 0 = not known. */
int find_path(struct model *m, u32 dev, u64 ino, u64 ts_ns, u32 *path);
int add_cmp(struct model *m, const struct cmp_row *c);
int add_anchor(struct model *m, u64 monotonic_ns, u64 realtime_ns, u32 uncertainty_ns);
int add_overflow(struct model *m, u64 ts_ns, u64 user_data, s32 res);

/* who.c: devices and tasks.  0 or -ENOMEM. */
struct device_id {
	u32 dev, rdev, nsid;
	struct slice name;
};
int find_device(struct model *m, const struct device_id *id, u32 *index);
int find_task_row(struct model *m, u32 tid, u32 pid, struct slice comm, u64 ts_ns, u32 *index);
int add_task(struct model *m, u32 tid, u32 pid, struct slice comm, u64 since_ns);
int sort_devices(struct model *m);
int sort_tasks(struct model *m);
static inline bool device_known(const struct device *d)
{
	return d->dev || d->rdev || d->name;
}

/*
 * loss.c.  A running account of one tracer says at ts_ns how many events it
 * lost so far; UINT64_MAX and EV_WITNESSES are the end of the recording, with
 * those of all.  0 or -ENOMEM.
 */
int add_loss_tick(struct model *m, u64 ts_ns, u32 witness, const struct account *a);
int find_losses(struct model *m);

/* load*.c */
int load_kvt(struct input *in, struct zin *z);
int load_jsonl(struct input *in, struct zin *z);
int load_text(struct input *in, const char *text, size_t n);
int load_meta(struct input *in, const json_t *doc);
/* A number of a document; 0 when it is absent, negative or none. */
u64 doc_u64(const json_t *doc, const char *key);

/*
 * sort.c: the stable order of n rows.  *order is NULL when they are in order
 * already, else the rows in their order, to be freed.  0 or -ENOMEM.
 */
typedef bool (*before_fn)(const void *arg, u32 a, u32 b);
int sort_rows(u32 n, before_fn before, const void *arg, u32 **order);
/* By the key of each row, and by `before` among equal ones. */
int sort_by_key(u32 n, const u64 *key, before_fn before, const void *arg, u32 **order);

/* calls.c.  0 or -ENOMEM. */
int add_call(struct model *m, const struct ev_syscall *e, u32 path);
int sort_calls(struct model *m);
/* Takes out the calls that do not stay; to[] is the new row of each, NONE when it is gone. */
void cut_calls(struct model *m, bool (*stays)(const void *arg, const struct call_row *c), const void *arg, u32 *to);

/* uring.c.  0 or -ENOMEM. */
int add_uring(struct model *m, const struct ev_uring *e, u32 path);
int sort_uring(struct model *m);
void cut_uring(struct model *m, bool (*stays)(const void *arg, const struct uring_row *r), const void *arg, u32 *to);

/* faults.c.  0 or -ENOMEM. */
int add_fault(struct model *m, const struct ev_fault *e, u32 path);
int add_cache(struct model *m, const struct ev_cache *e, u32 path);
int add_block(struct model *m, const struct ev_block *e);
int sort_faults(struct model *m);
void cut_faults(struct model *m, bool (*stays)(const void *arg, const struct fault_row *r), const void *arg, u32 *to);
/* extents.c.  0 or -ENOMEM. */
int add_extent(struct model *m, const struct ev_extent *e, u32 path);
void sort_extents(struct model *m);
int add_range(struct model *m, const struct ev_range *e);

/* order.c, pair.c, reissue.c: steps of model_finish().  0 or -ENOMEM. */
int sort_commands(struct model *m);
int drop_snapshots(struct model *m);
int pair_completions(struct model *m);
/* pair.c, while loading: a command was issued; its completion finds it at once when nothing else is possible. */
int note_issued(struct model *m, u32 row);
bool pair_at_once(struct model *m, struct cmp_row *c);
int mark_reissued(struct model *m);

#endif
