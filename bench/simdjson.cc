// SPDX-License-Identifier: Apache-2.0
/*
 * The peer of parsing: simdjson's on-demand parser reads five fields of every
 * line of a file that is in memory, in the two ways it has for JSON lines.
 */
#include <simdjson.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>

using namespace simdjson;

static double cpu_s()
{
	timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return double(t.tv_sec) + double(t.tv_nsec) / 1e9;
}

/* Fields in their order, which is the fastest way of asking. */
template <typename T> static uint64_t five_fields(T &doc)
{
	std::string_view kind = doc.find_field("event_type");
	uint64_t user_data, a, b, ts;

	if (kind == "nvme_cmd") {
		user_data = doc.find_field("user_data");
		a = doc.find_field("slba");
		b = doc.find_field("data_len");
	} else if (kind == "nvme_cmp") {
		user_data = doc.find_field("user_data");
		a = doc.find_field("lat_ns");
		b = doc.find_field("cid");
	} else {
		return 0;
	}
	ts = doc.find_field("ts");
	return user_data + a + b + ts;
}

static uint64_t many(ondemand::parser &parser, const padded_string &text)
{
	ondemand::document_stream docs;
	uint64_t sum = 0;

	if (parser.iterate_many(text.data(), text.size(), 1 << 20).get(docs))
		return 0;
	for (auto doc : docs)
		sum += five_fields(doc);
	return sum;
}

static uint64_t by_line(ondemand::parser &parser, const padded_string &text)
{
	const char *p = text.data(), *end = p + text.size();
	uint64_t sum = 0;

	while (p < end) {
		const char *nl = static_cast<const char *>(memchr(p, '\n', size_t(end - p)));
		size_t n = size_t((nl ? nl : end) - p);
		auto doc = parser.iterate(p, n, size_t(end - p) + SIMDJSON_PADDING);

		sum += five_fields(doc);
		p += n + 1;
	}
	return sum;
}

int main(int argc, char **argv)
{
	ondemand::parser parser;
	uint64_t (*const ways[])(ondemand::parser &, const padded_string &) = { many, by_line };
	uint64_t sums[2] = {};
	double best = 0;

	if (argc != 2)
		return 2;
	padded_string text = padded_string::load(argv[1]);
	for (int round = 0; round < 5; round++)
		for (int way = 0; way < 2; way++) {
			double began = cpu_s();

			sums[way] = ways[way](parser, text);
			best = std::max(best, double(text.size()) / 1e6 / (cpu_s() - began));
		}
	if (!sums[0] || sums[0] != sums[1])
		return 1;
	printf("simdjson.mbps %.0f\nsimdjson.version %s-%s\n", best, SIMDJSON_STRINGIFY(SIMDJSON_VERSION),
	       get_active_implementation()->name().c_str());
	return 0;
}
