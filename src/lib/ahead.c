// SPDX-License-Identifier: Apache-2.0
#include "lib/ahead.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "lib/pages.h"

#define BLOCK_BYTES (1u << 20)
#define BLOCKS	    3u /* with the user, ready, being filled */

struct ahead {
	struct zin *z;
	size_t front, stride;
	char *memory; /* of BLOCKS blocks with their room, zero where nothing was read */
	u32 taken;    /* blocks given to the user; the last one is its own */
	/* With a thread, under the lock: */
	bool threaded, stop;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	u32 filled;		/* blocks filled; result[i % BLOCKS] is what zin_read() returned */
	ssize_t result[BLOCKS]; /* 0 and errors end the stream */
};

static char *block(const struct ahead *a, u32 i)
{
	return a->memory + i % BLOCKS * a->stride + a->front;
}

/* Unpacks as much as a block holds: the pieces that come at once may be small. */
static ssize_t fill(struct ahead *a, char *p)
{
	size_t n = 0;
	ssize_t got;

	do {
		got = zin_read(a->z, p + n, BLOCK_BYTES - n);
		if (got > 0)
			n += (size_t)got;
	} while (got > 0 && n < BLOCK_BYTES);
	/* An error after some bytes comes again with the next block. */
	return n ? (ssize_t)n : got;
}

static void *run(void *arg)
{
	struct ahead *a = arg;
	ssize_t got = 1;
	u32 i;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	for (i = 0; got > 0; i++) {
		bool stop;

		pthread_mutex_lock(&a->lock);
		/* The block before last is free once the next one was taken. */
		while (!a->stop && i - a->taken >= BLOCKS - 1)
			pthread_cond_wait(&a->changed, &a->lock);
		stop = a->stop;
		pthread_mutex_unlock(&a->lock);
		if (stop)
			break;
		/* The user need not wait for a pipe that brings nothing. */
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
		got = fill(a, block(a, i));
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
		pthread_mutex_lock(&a->lock);
		a->result[i % BLOCKS] = got;
		a->filled = i + 1;
		pthread_cond_signal(&a->changed);
		pthread_mutex_unlock(&a->lock);
	}
	return NULL;
}

/* Signals are for the threads that know what to do with them. */
static void start(struct ahead *a)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	a->threaded = !pthread_create(&a->thread, NULL, run, a);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

int ahead_open(struct ahead **out, struct zin *z, size_t front, size_t behind)
{
	struct ahead *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->z = z;
	a->front = front;
	a->stride = front + BLOCK_BYTES + behind;
	a->memory = pages_alloc(BLOCKS * a->stride);
	if (!a->memory) {
		free(a);
		return -ENOMEM;
	}
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	if (zin_codec(z) != ZIO_PLAIN)
		start(a);
	*out = a;
	return 0;
}

ssize_t ahead_next(struct ahead *a, char **p)
{
	ssize_t got;

	*p = block(a, a->threaded ? a->taken : 0);
	if (!a->threaded)
		return zin_read(a->z, *p, BLOCK_BYTES);
	pthread_mutex_lock(&a->lock);
	while (a->filled == a->taken)
		pthread_cond_wait(&a->changed, &a->lock);
	got = a->result[a->taken % BLOCKS];
	/* At the end the same is said again. */
	a->taken += got > 0;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	return got;
}

void ahead_close(struct ahead *a)
{
	if (!a)
		return;
	if (a->threaded) {
		pthread_mutex_lock(&a->lock);
		a->stop = true;
		pthread_cond_signal(&a->changed);
		pthread_mutex_unlock(&a->lock);
		pthread_cancel(a->thread);
		pthread_join(a->thread, NULL);
	}
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
	pages_free(a->memory, BLOCKS * a->stride);
	free(a);
}
