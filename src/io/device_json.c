// SPDX-License-Identifier: Apache-2.0
#include "io/device.h"

#include <string.h>

static void put_str(struct buf *b, const char *name, const char *s)
{
	buf_printf(b, ",\"%s\":", name);
	if (s)
		buf_json(b, s, strlen(s));
	else
		buf_lit(b, "null");
}

/* A number, null when it is not known. */
static void put_num(struct buf *b, const char *name, bool known, u64 v)
{
	buf_printf(b, ",\"%s\":", name);
	if (known)
		buf_u64(b, v);
	else
		buf_lit(b, "null");
}

void device_json(struct buf *b, const struct nvme_ns *ns, const struct device_users *u)
{
	const char *bound;
	u64 limit = nvme_max_transfer(ns, 4096, &bound);
	size_t k;

	buf_lit(b, "{\"name\":");
	buf_json(b, ns->name, strlen(ns->name));
	put_str(b, "char_node", ns->generic[0] ? ns->generic : NULL);
	put_num(b, "nsid", ns->nsid, ns->nsid);
	put_num(b, "csi", ns->csi != NVME_CSI_UNKNOWN, ns->csi);
	put_num(b, "lba_bytes", ns->lba_bytes, ns->lba_bytes);
	put_num(b, "metadata_bytes", ns->ms_known, ns->ms);
	put_num(b, "capacity_bytes", ns->capacity, ns->capacity);
	put_num(b, "mdts_bytes", ns->identified && ns->mdts_bytes, ns->mdts_bytes);
	put_num(b, "max_hw_sectors_kb", ns->max_hw_sectors_kb, ns->max_hw_sectors_kb);
	put_num(b, "max_segments", ns->max_segments, ns->max_segments);
	put_num(b, "max_transfer_bytes", limit, limit);
	put_str(b, "max_transfer_bound", limit ? bound : NULL);
	put_num(b, "hw_queues", ns->hw_queues, ns->hw_queues);
	put_num(b, "nr_requests", ns->nr_requests, ns->nr_requests);
	put_str(b, "scheduler", ns->scheduler[0] ? ns->scheduler : NULL);
	put_str(b, "controller", ns->ctrl);
	put_str(b, "model", ns->model);
	put_str(b, "firmware", ns->firmware);
	put_str(b, "transport", ns->transport);
	/* The serial itself does not belong into what people paste into reports. */
	put_str(b, "serial_hash", ns->serial_hash);
	buf_lit(b, ",\"paths\":[");
	for (k = 0; k < ns->n_paths; k++) {
		buf_str(b, k ? "," : "");
		buf_json(b, ns->path[k], strlen(ns->path[k]));
	}
	buf_byte(b, ']');
	if (!u) {
		buf_lit(b, ",\"used_by\":null}");
		return;
	}
	buf_printf(b, ",\"root\":%s,\"signatures_checked\":%s,\"used_by\":[", u->root ? "true" : "false",
		   u->signature_error ? "false" : "true");
	for (k = 0; k < u->n; k++) {
		buf_printf(b, "%s{\"kind\":\"%s\"", k ? "," : "", device_use_word(u->use[k].kind));
		put_str(b, "node", u->use[k].who);
		put_str(b, "what", u->use[k].what);
		buf_byte(b, '}');
	}
	buf_lit(b, "]}");
}
