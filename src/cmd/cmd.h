/* SPDX-License-Identifier: Apache-2.0 */
/* The commands: one file each, one line each in the table of kvio.c. */
#ifndef KVIO_CMD_H
#define KVIO_CMD_H

#include "lib/opt.h"

extern const struct cmd cmd_cat;
extern const struct cmd cmd_completion;
extern const struct cmd cmd_doctor;
extern const struct cmd cmd_help;
extern const struct cmd cmd_loadpath;
extern const struct cmd cmd_manifest;
extern const struct cmd cmd_model;
extern const struct cmd cmd_perfetto;
extern const struct cmd cmd_plan;
extern const struct cmd cmd_probe;
extern const struct cmd cmd_record;
extern const struct cmd cmd_replay;
extern const struct cmd cmd_report;
extern const struct cmd cmd_run;
extern const struct cmd cmd_schema;
extern const struct cmd cmd_smoke;
extern const struct cmd cmd_sql;
extern const struct cmd cmd_sweep;
extern const struct cmd cmd_top;
extern const struct cmd cmd_trace;
extern const struct cmd cmd_validate;
extern const struct cmd cmd_version;
extern const struct cmd cmd_workload;

/* The command table, sorted by name. */
extern const struct cmd *const commands[];
extern const size_t n_commands;
/* NULL when there is no such command. */
const struct cmd *command_find(const char *name);
/* git describe of the build. */
extern const char kvio_version[];

#endif
