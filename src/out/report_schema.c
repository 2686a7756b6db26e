// SPDX-License-Identifier: Apache-2.0
/* What the JSON report holds, as a JSON Schema. */
#include <stdio.h>
#include <string.h>

#include "out/report_json.h"
#include "out/report_metrics.h"

/*
 * One member a row, members of an object below it with a greater depth.
 * Types: i integer, r number, s string, b true or false, o object, a array of
 * objects, t array of strings, m object of objects with free names, d the five
 * percentiles NAMEmin, NAMEp50, NAMEp95, NAMEp99, NAMEmax.  Then: 0 may be
 * null, ? may be absent.
 */
struct field {
	u8 depth;
	const char *name, *type, *what;
};

/* clang-format off */
/* What is told of a file, and of all. */
#define FILE_USE \
	{ 2, "faults", "i0", "on mapped files, from the first attempt to the last" }, \
	{ 2, "minor", "i0", "as getrusage has them" }, \
	{ 2, "major", "i0", "" }, \
	{ 2, "failed", "i0", "nothing was mapped" }, \
	{ 2, "retries", "i0", "attempts that had to be made again" }, \
	{ 2, "touched_pages", "i", "different pages that surely were used" }, \
	{ 2, "mapped_pages", "i0", "different pages that may have been used" }, \
	{ 2, "fill_pages", "i0", "that came into the page cache" }, \
	{ 2, "written_pages", "i0", "of these, made by writes" }, \
	{ 2, "readaheads", "i0", "" }, \
	{ 2, "readahead_pages", "i0", "" }, \
	{ 2, "direct_reads", "i0", "" }, \
	{ 2, "direct_read_bytes", "i0", "" }, \
	{ 2, "direct_writes", "i0", "" }, \
	{ 2, "direct_write_bytes", "i0", "" },
static const struct field fields[] = {
	{ 0, "schema_version", "i", "raised when a member changes its meaning; additions keep it" },
	{ 0, "percentile", "s", "how percentiles are taken: nearest-rank, or floor as older reports do" },
	{ 0, "label", "s", "name of the capture" },
	{ 0, "verdict", "s", "the outcome in one sentence" },
	{ 0, "health", "o", "whether the figures can be trusted" },
	{ 1, "lossy", "b", "events are known to be missing" },
	{ 1, "incomplete", "b", "the input was cut, damaged, or not ended properly" },
	{ 1, "seen", "i0", "events that the tracer saw" },
	{ 1, "stored", "i0", "of these, in the capture" },
	{ 1, "dropped", "i0", "of these, dropped: ring or map full" },
	{ 1, "hook_missed", "i0", "runs of the tracer that the kernel skipped" },
	{ 1, "filtered", "i0", "of the seen, filtered out" },
	{ 1, "unpaired_commands", "i", "commands without a completion" },
	{ 1, "unpaired_completions", "i", "completions without a command" },
	{ 1, "negative_latency", "i", "completions earlier than their command: in no latency" },
	{ 1, "malformed", "i", "lines or records that could not be read" },
	{ 1, "tail_cut", "b", "the input ends in the middle" },
	{ 1, "cq_overflows", "i", "completions that did not fit the ring" },
	{ 1, "warnings", "t", "the same in words" },
	{ 0, "inputs", "o", "what was read" },
	{ 1, "semantic", "i", "operations of the application" },
	{ 1, "commands", "i", "device commands" },
	{ 1, "completions", "i", "completions" },
	{ 1, "anchors", "i", "clock anchors" },
	{ 1, "other", "i", "other records" },
	{ 0, "join", "o", "how commands found their objects" },
	{ 1, "kind", "s", "trace id, key, offset, none" },
	{ 1, "why", "s", "why that" },
	{ 1, "producers", "i", "processes that wrote the semantic trace" },
	{ 1, "repeated_ids", "i", "operations beyond the first of each id" },
	{ 1, "colliding_ids", "i", "ids that several operations of one time have" },
	{ 1, "colliding_commands", "i", "commands with such an id" },
	{ 1, "told_apart_by_process", "i", "of these" },
	{ 1, "told_apart_by_place", "i", "of these" },
	{ 1, "told_apart_by_end_only", "i", "of these: they may be wrong" },
	{ 1, "too_long_keys", "i", "keys that a command cannot carry, without key_hex" },
	{ 1, "clock_anomalies", "i", "operations that end before their last command" },
	{ 1, "lba_inferred", "b", "the LBA size is another one than the capture says" },
	{ 1, "unique", "o?", "commands inside one object" },
	{ 2, "n", "i", "" },
	{ 2, "bytes", "i", "with the inner part of those that spill" },
	{ 1, "cross", "o?", "over several objects: their bytes are split" },
	{ 2, "n", "i", "" },
	{ 2, "bytes", "i", "" },
	{ 1, "gap_spill", "o?", "partly outside of any object" },
	{ 2, "n", "i", "" },
	{ 2, "bytes", "i", "those outside" },
	{ 1, "unmatched", "o?", "in no object of that time" },
	{ 2, "n", "i", "" },
	{ 2, "bytes", "i", "" },
	{ 1, "no_place", "o?", "without an LBA" },
	{ 2, "n", "i", "" },
	{ 2, "bytes", "i", "" },
	{ 1, "cookie_commands", "i?", "unique ones that have a trace id as well" },
	{ 1, "cookie_agrees", "i?", "of these, it names the same object" },
	{ 0, "info", "o", "what the capture says of itself" },
	{ 1, "schema", "i0", "of the semantic trace" },
	{ 1, "hostname", "s0", "where it was recorded" },
	{ 1, "device", "s0", "the application's device" },
	{ 1, "lba_bytes", "i0", "LBA size" },
	{ 1, "header_bytes", "i0", "nominal size of an object's header" },
	{ 1, "io_engine", "s0", "of the application" },
	{ 0, "devices", "a", "devices in the capture" },
	{ 1, "name", "s0", "nvme0n1" },
	{ 1, "nsid", "i", "namespace" },
	{ 1, "lba_bytes", "i0", "LBA size" },
	{ 0, "commands", "o", "commands that reached the device" },
	{ 1, "n", "i", "all of them" },
	{ 1, "tagged", "i", "with a trace id or an object" },
	{ 1, "untagged", "i", "without" },
	{ 1, "tagged_bytes", "i", "bytes of tagged commands" },
	{ 1, "wall_ns", "i", "first submission to last completion" },
	{ 1, "real_cover", "r", "share with a measured latency" },
	{ 1, "bytes", "i", "bytes of all" },
	{ 1, "read_bytes", "i", "of reads and KV retrieves" },
	{ 1, "write_bytes", "i", "of writes and KV stores" },
	{ 1, "completed", "i", "without an error" },
	{ 1, "failed", "i", "with an error; in no latency" },
	{ 1, "failed_bytes", "i", "bytes of these" },
	{ 1, "in_flight", "i", "not completed when the recording ended" },
	{ 1, "unpaired", "i", "without a completion in the capture" },
	{ 1, "backwards", "i", "with a completion before themselves" },
	{ 1, "refused", "i", "failed before the device; not in n" },
	{ 1, "reissued", "i", "first attempts that were issued again; not in n" },
	{ 1, "pool", "s", "tagged: figures below are of tagged commands; all: there is none" },
	{ 1, "pool_n", "i", "commands of the pool" },
	{ 1, "pool_bytes", "i", "bytes of the pool" },
	{ 0, "failures", "a", "how commands failed, the most frequent first" },
	{ 1, "kind", "s", "of the number: nvme, blk (blk_status_t, of older captures), errno (refused before the device)" },
	{ 1, "status", "i", "" },
	{ 1, "sct", "i0", "NVMe status code type" },
	{ 1, "sc", "i0", "NVMe status code" },
	{ 1, "name", "s", "" },
	{ 1, "n", "i", "commands" },
	{ 0, "lat_*", "o?", "device latency of the pool's commands of one name (read, write, store, ...)" },
	{ 1, "", "d", "of commands without an error, ns" },
	{ 1, "n", "i", "commands with a latency" },
	{ 1, "commands", "i", "commands of this name" },
	{ 1, "failed", "i", "with an error" },
	{ 1, "in_flight", "i", "not completed" },
	{ 1, "unpaired", "i", "without a completion" },
	{ 0, "qd1", "m", "load, store: does each command wait for the one before?" },
	{ 1, "gap_", "d", "between submissions of one object, ns" },
	{ 1, "verdict", "s", "QD~1 (serialized), QD~1 suspicious (gap >= 40us), pipelined, unknown" },
	{ 1, "gap_n", "i", "gaps" },
	{ 1, "objects", "i", "objects with the 4 commands that it takes" },
	{ 1, "serial_objects", "i", "of these, serial on their own" },
	{ 1, "service_p25", "i0", "latency that gaps are held against, ns" },
	{ 1, "service_p50", "i0", "median latency, ns" },
	{ 1, "service_n", "i", "commands with a latency" },
	{ 1, "long_gap_share", "r0", "gaps of at least half of service_p25" },
	{ 1, "in_flight", "r0", "commands of one object in flight" },
	{ 1, "busy_in_flight", "r0", "the same while any is" },
	{ 1, "gap_sum_ns", "i0", "sum of gaps" },
	{ 1, "service_sum_ns", "i0", "sum of the service of the command before each" },
	{ 1, "waited_ns", "i0", "the difference, 0 when negative" },
	{ 1, "span_ns", "i", "of objects, first submission to last completion" },
	{ 1, "waited_share", "r0", "waited_ns of span_ns" },
	{ 1, "same_object_successors", "r", "submissions followed by one of the same object" },
	{ 0, "queue", "m", "load, store: what keeps commands from overlapping" },
	{ 1, "class", "s", "serial-within-object, serial-across-objects, drains-between-batches, threads-take-turns, "
			  "device-bound, pipelined, unknown" },
	{ 1, "why", "s", "the evidence in words" },
	{ 1, "lost_ns", "i", "estimate of what it costs" },
	{ 1, "lost_of_ns", "i", "of how much time" },
	{ 1, "lost_share", "r", "the share of it" },
	{ 1, "n", "i", "commands looked at" },
	{ 1, "busy_ns", "i", "time with any in flight" },
	{ 1, "busy_depth", "r", "how many then" },
	{ 1, "depth_max", "i", "at most" },
	{ 1, "overlap_ns", "i", "time with two or more" },
	{ 1, "pauses_within", "i", "times that nothing was in flight within an open object" },
	{ 1, "pause_within_ns", "i", "for how long" },
	{ 1, "pauses_between", "i", "the same between objects, while an operation runs" },
	{ 1, "pause_between_ns", "i", "for how long" },
	{ 1, "objects", "i", "objects with commands" },
	{ 1, "objects_max", "i", "at the same time at most" },
	{ 1, "objects_mean", "r0", "at the same time, while any is open" },
	{ 1, "open_ns", "i", "time with an open object" },
	{ 1, "open_one_ns", "i", "time with exactly one" },
	{ 1, "threads", "i", "threads that submit" },
	{ 1, "thread_switches", "i", "submissions by another thread than the one before" },
	{ 1, "thread_overlap_ns", "i", "time with commands of two threads in flight" },
	{ 1, "size_bytes", "i", "most frequent size" },
	{ 1, "latency_p50", "i0", "of commands of that size, ns; only for a deep queue that may make them wait" },
	{ 1, "latency_n", "i", "how many" },
	{ 1, "floor_p50", "i0", "of those that found the fewest others on the device, ns" },
	{ 1, "floor_n", "i", "how many" },
	{ 1, "floor_found", "i0", "how many others" },
	{ 0, "qd", "o?", "queue depth over all" },
	{ 1, "mean", "r", "idle time included" },
	{ 1, "max", "i", "at most" },
	{ 1, "pct_time_le1", "r", "share of the time with at most one in flight" },
	{ 1, "busy_mean", "r", "mean while any is in flight" },
	{ 1, "n", "i", "commands with a known duration" },
	{ 1, "span_ns", "i", "time looked at" },
	{ 1, "busy_ns", "i", "of this, with any in flight" },
	{ 0, "batches", "o", "submissions without a longer pause" },
	{ 1, "n", "i", "how many" },
	{ 1, "size_p50", "i0", "commands" },
	{ 1, "size_p95", "i0", "commands" },
	{ 1, "size_max", "i0", "commands" },
	{ 1, "gap_ns", "i", "what is a pause" },
	{ 0, "objects", "m", "operations by name" },
	{ 1, "n", "i", "without an error, with a duration or commands" },
	{ 1, "span_", "d", "begin to end, ns" },
	{ 1, "span_n", "i", "with a span" },
	{ 1, "instants", "i", "without an error, and with neither; not in n" },
	{ 1, "eff_mbs_p50", "r0", "bytes over span, MB/s" },
	{ 1, "eff_n", "i", "with one" },
	{ 1, "presubmit_", "d", "begin to first command, ns" },
	{ 1, "presubmit_n", "i", "with a begin of their own and a command" },
	{ 1, "failed", "i", "with an error; in no other figure" },
	{ 1, "failed_with_commands", "i", "of these, with commands" },
	{ 1, "bytes", "i", "of n" },
	{ 1, "size_", "d", "bytes" },
	{ 1, "with_commands", "i", "of n" },
	{ 1, "commands", "i", "of all of them" },
	{ 1, "device_", "d", "of the span with a command in flight, ns" },
	{ 1, "host_", "d", "the rest, ns" },
	{ 1, "device_n", "i", "with both" },
	{ 0, "objects_in_flight_max", "i", "operations at the same time at most" },
	{ 0, "failed_ops", "i", "operations with an error" },
	{ 0, "failed_errors", "t", "their errors" },
	{ 0, "tp_barrier", "o?", "shards of one chunk: last end less first end" },
	{ 1, "shards", "i", "different ones" },
	{ 1, "gap_", "d", "ns" },
	{ 1, "n", "i", "chunks that all shards moved, the n-th time counted apart" },
	{ 1, "partial", "i", "chunks that some shards did not move" },
	{ 1, "last_because", "o", "how often the largest part of the gap was" },
	{ 2, "start", "i", "that the last one began later" },
	{ 2, "queue", "i", "its time before the first command" },
	{ 2, "device", "i", "its time with commands in flight" },
	{ 2, "host", "i", "its time between and behind them" },
	{ 1, "gap_parts_ns", "o", "the sum of all gaps in these parts; a negative one made it smaller" },
	{ 2, "start", "i", "" },
	{ 2, "queue", "i", "" },
	{ 2, "device", "i", "" },
	{ 2, "host", "i", "" },
	{ 1, "last_shards", "a", "shards by how often they were last" },
	{ 2, "shard", "s", "of the key" },
	{ 2, "rank", "s", "of the key" },
	{ 2, "n", "i", "chunks" },
	{ 2, "last", "i", "times it was the last" },
	{ 2, "last_because", "o", "as above" },
	{ 3, "start", "i", "" },
	{ 3, "queue", "i", "" },
	{ 3, "device", "i", "" },
	{ 3, "host", "i", "" },
	{ 0, "space", "o?", "writes of the pool" },
	{ 1, "lba_reuse", "i", "to an LBA written before" },
	{ 1, "seq_pct", "r", "share that follows the one before" },
	{ 1, "header_cmds", "i", "headers of objects" },
	{ 1, "header_bytes", "i", "measured" },
	{ 1, "header_share", "r", "of write_bytes" },
	{ 1, "writes", "i", "with an LBA" },
	{ 1, "write_bytes", "i", "of all writes" },
	{ 0, "throughput_gbs", "r?", "bytes of the pool that did not fail, over wall_ns" },
	{ 0, "syscalls", "o?", "system calls, when they were recorded" },
	{ 1, "all", "o", "all calls" },
	{ 2, "n", "i", "" },
	{ 2, "failed", "i", "" },
	{ 2, "short", "i", "moved less than was asked for" },
	{ 2, "asked_bytes", "i", "of reads, writes and copies that did not fail" },
	{ 2, "moved_bytes", "i", "" },
	{ 2, "total_ns", "i", "sum of durations" },
	{ 2, "lat_n", "i", "good calls whose begin was seen" },
	{ 2, "lat_p50_ns", "i0", "" },
	{ 2, "lat_p99_ns", "i0", "" },
	{ 2, "lat_max_ns", "i0", "" },
	{ 1, "calls", "m", "the same by call" },
	{ 2, "n", "i", "" },
	{ 2, "failed", "i", "" },
	{ 2, "short", "i", "" },
	{ 2, "asked_bytes", "i", "" },
	{ 2, "moved_bytes", "i", "" },
	{ 2, "total_ns", "i", "" },
	{ 2, "lat_n", "i", "" },
	{ 2, "lat_p50_ns", "i0", "" },
	{ 2, "lat_p99_ns", "i0", "" },
	{ 2, "lat_max_ns", "i0", "" },
	{ 1, "n_files", "i", "files that were used" },
	{ 1, "files", "a", "those with most bytes" },
	{ 2, "path", "s0", "" },
	{ 2, "dev", "i", "" },
	{ 2, "ino", "i", "" },
	{ 2, "reads", "i", "copies from it, too" },
	{ 2, "read_bytes", "i", "" },
	{ 2, "writes", "i", "" },
	{ 2, "write_bytes", "i", "" },
	{ 2, "syncs", "i", "" },
	{ 2, "other", "i", "" },
	{ 2, "total_ns", "i", "" },
	{ 0, "io_uring", "o?", "io_uring requests, when they were recorded" },
	{ 1, "rings", "i", "" },
	{ 1, "all", "o", "all requests" },
	{ 2, "n", "i", "" },
	{ 2, "failed", "i", "" },
	{ 2, "unfinished", "i", "no completion was posted" },
	{ 2, "punted", "i", "given to a worker thread" },
	{ 2, "sqpoll", "i", "submitted by the ring's own thread" },
	{ 2, "asked_bytes", "i", "of reads and writes that did not fail" },
	{ 2, "moved_bytes", "i", "" },
	{ 2, "lat_n", "i", "good requests" },
	{ 2, "lat_p50_ns", "i0", "" },
	{ 2, "lat_p99_ns", "i0", "" },
	{ 2, "lat_max_ns", "i0", "" },
	{ 1, "operations", "m", "the same by operation" },
	{ 2, "n", "i", "" },
	{ 2, "failed", "i", "" },
	{ 2, "unfinished", "i", "" },
	{ 2, "punted", "i", "" },
	{ 2, "sqpoll", "i", "" },
	{ 2, "asked_bytes", "i", "" },
	{ 2, "moved_bytes", "i", "" },
	{ 2, "lat_n", "i", "" },
	{ 2, "lat_p50_ns", "i0", "" },
	{ 2, "lat_p99_ns", "i0", "" },
	{ 2, "lat_max_ns", "i0", "" },
	{ 0, "causes", "m?", "commands by how they were joined with the call, request or fault that caused them, or why not" },
	{ 1, "n", "i", "commands" },
	{ 1, "bytes", "i", "" },
	{ 0, "bytes_by_layer", "m?", "from the program to the device; null: no witness saw it" },
	{ 1, "reads", "i0", "" },
	{ 1, "read_bytes", "i0", "" },
	{ 1, "read_ratio", "r0", "to the program's bytes; of device_by_...: to those of what caused them" },
	{ 1, "writes", "i0", "" },
	{ 1, "write_bytes", "i0", "" },
	{ 1, "write_ratio", "r0", "" },
	{ 0, "page_faults", "o?", "page faults, page cache and block devices, when they were recorded" },
	{ 1, "page_bytes", "i", "" },
	{ 1, "useful_bytes", "i0", "by markers of the application, else --useful-bytes of the recording" },
	{ 1, "markers", "i", "that say so" },
	{ 1, "incomplete", "b", "events were lost: all are lower bounds" },
	{ 1, "all", "o", "all files" },
	FILE_USE
	{ 2, "lat_n", "i", "faults recorded one by one" },
	{ 2, "lat_p50_ns", "i0", "" },
	{ 2, "lat_p99_ns", "i0", "" },
	{ 2, "lat_max_ns", "i0", "" },
	{ 1, "n_files", "i", "" },
	{ 1, "files", "a", "those that most came in of" },
	{ 2, "path", "s0", "" },
	{ 2, "dev", "i", "" },
	{ 2, "ino", "i", "" },
	FILE_USE
	{ 1, "amplification", "m", "page_size, readahead, device, all: both parts of each ratio" },
	{ 2, "part_bytes", "i0", "" },
	{ 2, "whole_bytes", "i0", "" },
	{ 1, "block_devices", "a", "requests by device and direction" },
	{ 2, "device", "s", "" },
	{ 2, "write", "b", "" },
	{ 2, "requests", "i", "" },
	{ 2, "bytes", "i", "" },
	{ 2, "min_bytes", "i0", "" },
	{ 2, "max_bytes", "i0", "" },
	{ 2, "iu", "i0", "indirection unit that the device reports" },
	{ 2, "iu_bytes", "i0", "bytes of all units that requests touch" },
	{ 2, "sub_iu", "i0", "requests smaller than one" },
	{ 2, "optimal_bytes", "i0", "" },
	{ 2, "max_request_bytes", "i0", "" },
	{ 0, "device_files", "o?", "which files reads and writes of the device were about, when files were mapped" },
	{ 1, "mapped", "i", "files with a map at the end" },
	{ 1, "moved", "i", "of these, with bytes that were elsewhere before" },
	{ 1, "unmapped", "i", "files without one" },
	{ 1, "outside", "i", "commands in no known file" },
	{ 1, "outside_bytes", "i", "" },
	{ 1, "unsure", "i", "commands that may be of several files" },
	{ 1, "unsure_bytes", "i", "" },
	{ 1, "partly", "i", "commands that go beyond a piece of their file" },
	{ 1, "n_files", "i", "files with commands" },
	{ 1, "files", "a", "those with most bytes" },
	{ 2, "path", "s0", "" },
	{ 2, "dev", "i", "" },
	{ 2, "ino", "i", "" },
	{ 2, "reads", "i", "" },
	{ 2, "read_bytes", "i", "" },
	{ 2, "writes", "i", "" },
	{ 2, "write_bytes", "i", "" },
	{ 0, "n_container_programs", "i?", "programs of other pid namespaces than the host's" },
	{ 0, "container_programs", "a?", "the first of them" },
	{ 1, "pid", "i", "of the host" },
	{ 1, "ns_pid", "i", "in the container" },
	{ 1, "comm", "s0", "" },
	{ 1, "cgroup_path", "s0", "" },
	{ 0, "serving", "m?", "serving spans by name; their parts add up to sum_ns" },
	{ 1, "n", "i", "spans" },
	{ 1, "", "d", "ns" },
	{ 1, "sum_ns", "i", "all of them" },
	{ 1, "shared", "i", "of these, overlap another span" },
	{ 1, "device_ns", "i", "a command of its objects is in flight" },
	{ 1, "gaps_ns", "i", "none is, between first and last command of an object" },
	{ 1, "wait_ns", "i", "an object has begun and has no command yet" },
	{ 1, "tail_ns", "i", "an object has its last completion and has not ended" },
	{ 1, "unexplained_ns", "i", "no object runs" },
	{ 0, "slowest_requests", "a?", "the slowest spans" },
	{ 1, "request_id", "s0", "" },
	{ 1, "name", "s0", "" },
	{ 1, "tokens", "i0", "" },
	{ 1, "start_ns", "i", "CLOCK_MONOTONIC" },
	{ 1, "ns", "i", "the five parts add up to it" },
	{ 1, "device_ns", "i", "" },
	{ 1, "gaps_ns", "i", "" },
	{ 1, "wait_ns", "i", "" },
	{ 1, "tail_ns", "i", "" },
	{ 1, "unexplained_ns", "i", "" },
	{ 1, "op", "s0", "of its objects: load, or store when it has no load" },
	{ 1, "objects", "i", "that run in it" },
	{ 1, "commands", "i", "issued in it" },
	{ 1, "bytes", "i", "of these" },
	{ 1, "shared", "b", "another span overlaps it: parts hold that one's IO as well" },
	{ 0, "ab", "o?", "this capture against the first one" },
	{ 1, "base", "s", "label of the first one" },
	{ 1, "comparable", "b", "the same work" },
	{ 1, "tolerance", "r", "share by which the work may differ" },
	{ 1, "differs", "t", "kinds of work that differ by more" },
	{ 1, "paired", "i", "objects in both, by operation, shard, chunk and n-th time" },
	{ 1, "only_base", "i", "" },
	{ 1, "only_this", "i", "" },
	{ 1, "work", "m", "objects, object_bytes, commands, ..." },
	{ 2, "base", "i0", "" },
	{ 2, "this", "i0", "" },
	{ 2, "change", "r0", "this / base - 1" },
	{ 1, "pairs", "m", "load, store: the same object in both" },
	{ 2, "n", "i", "pairs" },
	{ 2, "delta_p50", "r", "median of this span less base span, ns" },
	{ 2, "faster", "i", "" },
	{ 2, "slower", "i", "" },
	{ 2, "delta_ns", "o", "the median with its 95 % interval: what a bootstrap tends to, null below 6 pairs" },
	{ 3, "p50", "r", "" },
	{ 3, "low", "r0", "" },
	{ 3, "high", "r0", "" },
	{ 2, "ratio", "o", "the same of this span by base span" },
	{ 3, "p50", "r", "" },
	{ 3, "low", "r0", "" },
	{ 3, "high", "r0", "" },
	{ 1, "times", "m", "wall_ns, read_latency_p50, ..." },
	{ 2, "base", "i0", "" },
	{ 2, "this", "i0", "" },
	{ 2, "change", "r0", "this / base - 1" },
	{ 1, "ratios", "m", "read_amplification, write_amplification, load_gap_per_service, store_gap_per_service" },
	{ 2, "base", "o", "both parts of the ratio, by name, and" },
	{ 3, "ratio", "r0", "" },
	{ 2, "this", "o", "the same" },
	{ 3, "ratio", "r0", "" },
	{ 2, "this_by_base", "r0", "the ratio of the two ratios" },
};
/* clang-format on */

static void type(struct json *j, const char *name, bool nullable)
{
	if (!nullable) {
		jw_string(j, "type", name);
		return;
	}
	jw_array(j, "type");
	jw_item(j);
	buf_json(j->b, name, strlen(name));
	jw_item(j);
	buf_lit(j->b, "\"null\"");
	jw_close(j, ']');
}

static void percentiles(struct json *j, const struct field *f)
{
	static const char *const names[] = { "min", "p50", "p95", "p99", "max" };
	char name[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(name, sizeof(name), "%s%s", f->name, names[i]);
		jw_object(j, name);
		type(j, "integer", true);
		jw_string(j, "description", f->what);
		jw_close(j, '}');
	}
}

static void require(struct json *j, u32 at, u32 end)
{
	u8 depth = fields[at].depth;

	jw_array(j, "required");
	for (; at < end; at++) {
		const struct field *f = &fields[at];

		if (f->depth != depth || strchr(f->type, '?') || *f->type == 'd')
			continue;
		jw_item(j);
		buf_json(j->b, f->name, strlen(f->name));
	}
	jw_close(j, ']');
}

/* The row behind the members of row `at`. */
static u32 behind(u32 at, u32 end)
{
	u32 i = at + 1;

	while (i < end && fields[i].depth > fields[at].depth)
		i++;
	return i;
}

static void members(struct json *j, u32 at, u32 end);

static void value(struct json *j, u32 at, u32 next)
{
	const struct field *f = &fields[at];
	bool nullable = strchr(f->type, '0') != NULL;

	switch (*f->type) {
	case 'i':
		type(j, "integer", nullable);
		break;
	case 'r':
		type(j, "number", nullable);
		break;
	case 's':
		type(j, "string", nullable);
		break;
	case 'b':
		type(j, "boolean", nullable);
		break;
	case 't':
		type(j, "array", nullable);
		jw_object(j, "items");
		type(j, "string", false);
		jw_close(j, '}');
		break;
	case 'o':
		members(j, at + 1, next);
		break;
	default:
		type(j, *f->type == 'a' ? "array" : "object", false);
		jw_object(j, *f->type == 'a' ? "items" : "additionalProperties");
		members(j, at + 1, next);
		jw_close(j, '}');
		break;
	}
	if (*f->what)
		jw_string(j, "description", f->what);
}

/* Members with a "*" at the end of their name, or those without one. */
static void some_members(struct json *j, u32 at, u32 end, bool patterns)
{
	u32 next;

	for (; at < end; at = next) {
		size_t n = strlen(fields[at].name);
		char pattern[64];

		next = behind(at, end);
		if ((n && fields[at].name[n - 1] == '*') != patterns)
			continue;
		if (*fields[at].type == 'd') {
			percentiles(j, &fields[at]);
			continue;
		}
		snprintf(pattern, sizeof(pattern), "^%.*s", (int)n - 1, fields[at].name);
		jw_object(j, patterns ? pattern : fields[at].name);
		value(j, at, next);
		jw_close(j, '}');
	}
}

/* The schema of an object with these members. */
static void members(struct json *j, u32 at, u32 end)
{
	type(j, "object", false);
	jw_object(j, "properties");
	some_members(j, at, end, false);
	jw_close(j, '}');
	jw_object(j, "patternProperties");
	some_members(j, at, end, true);
	jw_close(j, '}');
	require(j, at, end);
}

static void metrics(struct json *j)
{
	struct report_metric_info m;
	u32 i, k;

	jw_array(j, "metrics");
	for (i = 0; i < report_metric_infos(); i++) {
		report_metric_info(i, &m);
		jw_item(j);
		jw_open(j, '{');
		jw_string(j, "metric", m.metric);
		jw_string(j, "ops", m.ops);
		jw_bool(j, "any_op", m.any_op);
		jw_string(j, "unit", m.unit);
		jw_array(j, "stats");
		for (k = 0; m.is_dist && report_stats[k]; k++) {
			jw_item(j);
			buf_json(j->b, report_stats[k], strlen(report_stats[k]));
		}
		jw_close(j, ']');
		jw_string(j, "description", m.what);
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

void report_schema(struct buf *out)
{
	struct json j = { .b = out };

	jw_open(&j, '{');
	jw_string(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
	jw_string(&j, "title", "kvio report --json");
	jw_string(&j, "description",
		  "One member a capture, named by its label.  Times are nanoseconds, shares are 0 to 1, and what "
		  "was not measured is null.  \"metrics\" lists the figures of --csv, --prom and --fail-if.");
	jw_number(&j, "version", REPORT_SCHEMA);
	jw_string(&j, "type", "object");
	jw_object(&j, "additionalProperties");
	members(&j, 0, ARRAY_SIZE(fields));
	jw_close(&j, '}');
	metrics(&j);
	jw_close(&j, '}');
	buf_byte(out, '\n');
}
