# SPDX-License-Identifier: Apache-2.0
# For tests of kvio perfetto: made-up captures, and what was drawn of them.
# Needs tests/tap.sh, $KVIO and $tmp.

# shellcheck disable=SC2034 # they are for who sources this
draw() { # ARGUMENTS...: draws to $tmp/x.pftrace; sets status, summary, dump, check
	: >"$tmp/x.pftrace" >"$tmp/x.dump"
	summary=$("$KVIO" perfetto "$@" -o "$tmp/x.pftrace" 2>&1)
	status=$?
	check=$(tests/pftcheck --dump "$tmp/x.dump" "$tmp/x.pftrace" 2>&1)
	dump=$(cat "$tmp/x.dump" 2>&1)
}

on() { # TRACK: the events of the track in the last timeline
	echo "$dump" | awk -v path="@ $1" '/^@/ { on = $0 == path } on && !/^@/'
}

sum() { # the numbers of pftcheck without the slices
	echo "$check" | sed 's/ slices.*//'
}

submit() { # TS USER_DATA MORE...: a read of 4 KiB
	ts=$1 ud=$2
	shift 2
	printf '{"event_type":"nvme_cmd","user_data":%s,"nvme_opcode":2,"op_name":"read","nsid":1,"slba":%s,"nlb":1,"data_len":4096,"ts":%s%s}\n' \
		"$ud" "${ud#4294967}" "$ts" "$*"
}

complete() { # TS LAT USER_DATA MORE...
	ts=$1 lat=$2 ud=$3
	shift 3
	printf '{"event_type":"nvme_cmp","user_data":%s,"lat_ns":%s,"ts":%s%s}\n' "$ud" "$lat" "$((ts + lat))" "$*"
}

object() { # ID OP START_S END_S MORE...
	id=$1 op=$2 start=$3 end=$4
	shift 4
	printf '{"trace_id":%s,"op":"%s","key":"k%s","bytes":4096,"ts_start":%s,"ts":%s%s}\n' "$id" "$op" "$id" "$start" "$end" "$*"
}

drops='{"event_type":"drops","dropped":0}'
