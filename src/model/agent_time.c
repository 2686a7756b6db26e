// SPDX-License-Identifier: Apache-2.0
/* Times as traces of agents have them: ISO 8601, or numbers whose unit their size tells. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/agent.h"

static bool digits(const char **p, const char *end, u32 n, u32 *out)
{
	for (*out = 0; n; n--, (*p)++) {
		if (*p == end || **p < '0' || **p > '9')
			return false;
		*out = *out * 10 + (u32)(**p - '0');
	}
	return true;
}

static bool sign(const char **p, const char *end, const char *any)
{
	return *p < end && strchr(any, *(*p)++);
}

/* Days since 1970 of a day of the Gregorian calendar. */
static s64 days(s64 y, u32 m, u32 d)
{
	y -= m <= 2;
	return y * 365 + y / 4 - y / 100 + y / 400 + (153 * (m + (m > 2 ? -3u : 9u)) + 2) / 5 + d - 1 - 719468;
}

static int in_century(s64 ns)
{
	const s64 day = 86400ll * 1000000000;

	return ns < days(2000, 1, 1) * day || ns >= days(2101, 1, 1) * day ? -ERANGE : 0;
}

static int iso_time(const char *p, const char *end, s64 *ns)
{
	u32 y, mo, d, h, mi, s, zh = 0, zm = 0;
	s64 fraction = 0, unit = 100000000, zone = 0;

	if (!digits(&p, end, 4, &y) || !sign(&p, end, "-") || !digits(&p, end, 2, &mo) || !sign(&p, end, "-") ||
	    !digits(&p, end, 2, &d) || !sign(&p, end, "Tt ") || !digits(&p, end, 2, &h) || !sign(&p, end, ":") ||
	    !digits(&p, end, 2, &mi) || !sign(&p, end, ":") || !digits(&p, end, 2, &s) || mo < 1 || mo > 12 || d < 1 ||
	    d > 31 || h > 23 || mi > 59 || s > 60)
		return -EINVAL;
	if (p < end && *p == '.')
		for (p++; p < end && *p >= '0' && *p <= '9'; p++, unit /= 10)
			fraction += (*p - '0') * unit;
	if (p < end && (*p == '+' || *p == '-')) {
		zone = *p++ == '+' ? 1 : -1;
		if (!digits(&p, end, 2, &zh) || !sign(&p, end, ":") || !digits(&p, end, 2, &zm) || zh > 23 || zm > 59)
			return -EINVAL;
	} else if (p < end && (*p | 0x20) == 'z') {
		p++;
	}
	if (p != end)
		return -EINVAL;
	if (y < 1900 || y > 2200)
		return -ERANGE;
	*ns = ((days(y, mo, d) * 24 + h) * 60 + mi - zone * (zh * 60 + zm)) * 60000000000ll + s * 1000000000ll +
	      fraction;
	return in_century(*ns);
}

int agent_time(const char *text, size_t n, s64 *ns)
{
	char word[64];
	double v;
	char *end;

	if (n > 4 && text[4] == '-')
		return iso_time(text, text + n, ns);
	if (!n || n >= sizeof(word))
		return -EINVAL;
	memcpy(word, text, n);
	word[n] = '\0';
	v = strtod(word, &end);
	if (*end || !(v > -1e18 && v < 1e18))
		return -EINVAL;
	v *= v >= 1e14 || v <= -1e14 ? 1e3 : v >= 1e11 || v <= -1e11 ? 1e6 : 1e9;
	if (!(v > -9e18 && v < 9e18))
		return -ERANGE;
	*ns = (s64)v;
	return in_century(*ns);
}
