/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an NVMe device is: its names, geometry and limits, and who uses it.
 *
 * sysfs knows most of it without any privilege; Identify commands know the
 * rest (MDTS, metadata mode, and the command set on older kernels).
 * Device numbers are in the kernel's encoding, major << 20 | minor, as the
 * tracers see them; stat(2) encodes them otherwise, see dev_kernel().
 */
#ifndef KVIO_DEVICE_H
#define KVIO_DEVICE_H

#include <sys/types.h>

#include "lib/buf.h"
#include "lib/types.h"

#define NVME_NAME 32

enum nvme_csi {
	NVME_CSI_NVM = 0,
	NVME_CSI_KV = 1,
	NVME_CSI_ZNS = 2,
	NVME_CSI_UNKNOWN = 0xff,
};

/* One namespace, whatever number of nodes and paths it has. */
struct nvme_ns {
	char name[NVME_NAME];	 /* nvme0n1 */
	char generic[NVME_NAME]; /* ng0n1, "" when the kernel has no such node */
	bool head;		 /* a native multipath head: the driver sees path[], not name */
	char (*path)[NVME_NAME]; /* nvme0c0n1, ... */
	u32 n_paths;
	u32 dev;  /* number of the block node, 0 when there is none (key value) */
	u32 rdev; /* number of the char node, 0 when there is none */
	u32 nsid;
	u8 csi;	       /* enum nvme_csi */
	u32 lba_bytes; /* data bytes of one block, 0 = unknown or no blocks (key value) */
	u16 ms;	       /* metadata bytes of one block, if ms_known */
	bool ms_known;
	bool ms_extended; /* metadata follows each block in the data buffer; after nvme_identify() */
	u64 capacity;	  /* data bytes */

	/* Limits of the kernel; of a head, the tightest of its paths.  0 = unknown. */
	u32 max_hw_sectors_kb;
	u32 max_segments;
	u32 nr_requests; /* tags of one hardware queue */
	u32 hw_queues;
	char scheduler[16];

	/* The controller; of a head, that of its first path. */
	char ctrl[NVME_NAME]; /* nvme0 */
	char model[41], serial[21], firmware[9], transport[16];
	char serial_hash[9]; /* 8 hex digits: all that a capture carries of the serial */

	bool identified; /* nvme_identify() succeeded: the next one is valid */
	u64 mdts_bytes;	 /* largest transfer of the controller, 0 = no limit of its own */
};

/* st_rdev or st_dev of stat(2) as the kernel has it. */
u32 dev_kernel(dev_t d);

/* ---- names ---- */

enum nvme_node {
	NVME_NODE_NONE,	      /* no NVMe name */
	NVME_NODE_CONTROLLER, /* nvme0 */
	NVME_NODE_BLOCK,      /* nvme0n1 */
	NVME_NODE_GENERIC,    /* ng0n1 */
	NVME_NODE_PATH,	      /* nvme0c1n1 */
	NVME_NODE_PARTITION,  /* nvme0n1p2 */
};

/* The numbers in a node's name.  `instance` and `head` are equal for all nodes of a namespace. */
struct nvme_name {
	enum nvme_node kind;
	u32 instance;
	u32 head; /* not the nsid: the kernel counts on its own */
	u32 ctrl;
	u32 partition;
};

/* `name` has no directory in front. */
struct nvme_name nvme_parse_name(const char *name);

/*
 * The namespace that a user's word names: any of its nodes, with or without
 * a directory, a symbolic link to one, or a special file with its number; a
 * partition and a path count too.  NULL when the list has it not; *kind (may
 * be NULL) says what sort of node it was.
 */
const struct nvme_ns *nvme_find(const struct nvme_ns *list, size_t n, const char *word, enum nvme_node *kind);

/*
 * The char node for passthrough to the namespace that `word` names, e.g.
 * "/dev/ng0n1" for "nvme0n1".  Purely by name: the node may not exist.
 * Returns 0, or -EINVAL with the reason and the right node in `why`.
 */
int nvme_generic_node(const char *word, char *node, size_t node_size, char *why, size_t why_size);

/* ---- facts ---- */

/*
 * All namespaces that sysfs (mounted at `sysfs`, normally "/sys") shows, in
 * the order of their names.  The caller frees with nvme_list_free().  Returns
 * 0 (also with none), -ENOENT when `sysfs` has no block directory, -ENOMEM.
 */
int nvme_list(const char *sysfs, struct nvme_ns **out, size_t *n);
void nvme_list_free(struct nvme_ns *list, size_t n);

/*
 * Asks the device behind fd (a char or block node of a namespace) and fills
 * in nsid, geometry, command set, identity and MDTS; all else in *ns stays.
 * *ns is from nvme_list(), or zero but for csi = NVME_CSI_UNKNOWN.
 * Returns 0; -ENOTTY when fd is no NVMe namespace, -EPERM or -EACCES when not
 * allowed, -EREMOTEIO when the controller refused, another -errno.
 */
int nvme_identify(int fd, struct nvme_ns *ns);

/* The 4096 bytes of Identify data, as nvme_identify() reads them. */
void nvme_parse_id_ctrl(const u8 *id, struct nvme_ns *ns);  /* CNS 1 */
int nvme_parse_id_ns(const u8 *id, struct nvme_ns *ns);	    /* CNS 0; -EPROTO when it is no format */
void nvme_parse_id_descs(const u8 *id, struct nvme_ns *ns); /* CNS 3: command set */

/* The 8 hex digits that stand for a serial, e.g. to compare a device with a capture's. */
void nvme_hash_serial(const char *serial, char hash[9]);

/*
 * Bytes of the largest single passthrough command, a whole number of blocks
 * (with their metadata where it shares the data buffer):
 * the least of MDTS, max_hw_sectors_kb and max_segments (each segment is one
 * page of `page_bytes`, so huge pages lift that bound).  *bound (may be NULL)
 * names the one that won, "" when none is known; then the result is 0.
 */
u64 nvme_max_transfer(const struct nvme_ns *ns, u64 page_bytes, const char **bound);

/* ---- users ---- */

enum device_use_kind {
	USE_MOUNT,     /* what = mount point */
	USE_SWAP,      /* what = "" */
	USE_HOLDER,    /* what = dm-0, md127, ... */
	USE_PARTITION, /* what = "" */
	USE_SIGNATURE, /* what = "filesystem ext4", "partition table gpt", "raid linux_raid_member" */
	USE_CLAIMED,   /* the kernel holds it for something not visible from here */
};

struct device_use {
	enum device_use_kind kind;
	char *who; /* the node that is used: the disk, a partition or a holder */
	char *what;
};

struct device_users {
	struct device_use *use;
	size_t n;
	bool root; /* the running system's / is on it */
	/*
	 * 0, or the -errno that kept signatures from being read (-EACCES without
	 * the right): then the absence of USE_SIGNATURE proves nothing.
	 */
	int signature_error;
};

/* Where the kernel's files are; tests put their own. */
struct device_roots {
	const char *sysfs, *proc, *dev;
};
#define DEVICE_ROOTS_SYSTEM             \
	{                               \
		"/sys", "/proc", "/dev" \
	}

/*
 * Who uses the disk `name` (nvme0n1): mounts and swap of it, of its partitions
 * and of what is stacked on them, holders, partitions, signatures.  Mounts are
 * those of this mount namespace; what others hold shows as USE_CLAIMED.
 * Reads only.  Returns 0, -ENODEV (no such disk), -ENOMEM or -errno of a list
 * that could not be read; free with device_users_free() in any case.
 */
int device_users(const struct device_roots *roots, const char *name, struct device_users *out);
void device_users_free(struct device_users *u);
/* "mount", "swap", ... for messages and JSON. */
const char *device_use_word(enum device_use_kind kind);

/*
 * Appends all that is known of a namespace as one JSON object: the serial as
 * its hash only, null for what is not known; u may be NULL (users not known).
 */
void device_json(struct buf *b, const struct nvme_ns *ns, const struct device_users *u);

#endif
