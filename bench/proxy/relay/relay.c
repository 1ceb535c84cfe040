// Relay copies bytes between each client and a connection of its own to the upstream. It parses nothing, logs nothing
// and times nothing out: the minimum CPU time that a proxy takes on this machine.
//
// usage: relay PORT UPSTREAM-PORT WORKERS
//
// Each worker is a process with its own epoll instance, like nginx's. All share one listening socket.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BUFFER = 16 << 10, EVENTS = 256 };

// An end is one connection of a pair. It holds the bytes that its peer could not send yet.
struct end {
	int fd, closed;
	struct end *peer;
	struct end *next; // in the list of ends to free after a batch of events
	size_t from, to;
	char data[BUFFER];
};

static void fail(const char *what) {
	perror(what);
	exit(1);
}

static struct sockaddr_in loopback(int port) {
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	return a;
}

// move_bytes copies from e to its peer until one of them would block. It returns 0 when the pair must be closed.
static int move_bytes(struct end *e) {
	for (;;) {
		while (e->from < e->to) {
			ssize_t n = send(e->peer->fd, e->data + e->from, e->to - e->from, MSG_NOSIGNAL);
			if (n < 0) return errno == EAGAIN;
			e->from += n;
		}
		ssize_t n = recv(e->fd, e->data, BUFFER, 0);
		if (n == 0) return 0;
		if (n < 0) return errno == EAGAIN;
		e->from = 0;
		e->to = n;
		if (n == BUFFER) continue;
		// A short read has emptied the socket; a later byte is another edge.
		n = send(e->peer->fd, e->data, e->to, MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN) return 0;
		e->from = n < 0 ? 0 : n;
		if (e->from == e->to) return 1;
	}
}

static struct end *new_end(int fd) {
	struct end *e = malloc(sizeof *e);
	int on = 1;
	if (!e) fail("malloc");
	memset(e, 0, offsetof(struct end, data));
	e->fd = fd;
	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0) fail("setsockopt");
	return e;
}

static void add(int epoll, struct end *e) {
	struct epoll_event ev = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = e};
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, e->fd, &ev) < 0) fail("epoll_ctl");
}

static void accept_all(int epoll, int listener, int upstream) {
	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
		if (fd < 0) return; // nothing left, or another worker has taken it
		int up = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		struct sockaddr_in a = loopback(upstream);
		if (up < 0) fail("socket");
		if (connect(up, (struct sockaddr *)&a, sizeof a) < 0 && errno != EINPROGRESS) fail("connect");
		struct end *client = new_end(fd), *server = new_end(up);
		client->peer = server;
		server->peer = client;
		add(epoll, client);
		add(epoll, server);
	}
}

static void work(int listener, int upstream) {
	int epoll = epoll_create1(0);
	struct epoll_event events[EVENTS], ev = {.events = EPOLLIN | EPOLLEXCLUSIVE};
	if (epoll < 0) fail("epoll_create1");
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &ev) < 0) fail("epoll_ctl");
	for (;;) {
		struct end *done = NULL;
		int n = epoll_wait(epoll, events, EVENTS, -1);
		for (int i = 0; i < n; i++) {
			struct end *e = events[i].data.ptr;
			if (!e) {
				accept_all(epoll, listener, upstream);
				continue;
			}
			if (e->closed) continue;
			int open = 1;
			if (events[i].events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) open = move_bytes(e);
			if (open && events[i].events & EPOLLRDHUP) open = move_bytes(e); // the FIN after the last bytes
			if (open && events[i].events & EPOLLOUT && e->peer->from < e->peer->to) open = move_bytes(e->peer);
			if (open) continue;
			close(e->fd);
			close(e->peer->fd);
			e->closed = e->peer->closed = 1;
			e->next = e->peer;
			e->peer->next = done;
			done = e;
		}
		while (done) {
			struct end *e = done;
			done = e->next;
			free(e);
		}
	}
}

int main(int argc, char **argv) {
	if (argc != 4) {
		fprintf(stderr, "usage: relay PORT UPSTREAM-PORT WORKERS\n");
		return 2;
	}
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
	struct sockaddr_in a = loopback(atoi(argv[1]));
	if (listener < 0) fail("socket");
	if (setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0) fail("setsockopt");
	if (bind(listener, (struct sockaddr *)&a, sizeof a) < 0) fail("bind");
	if (listen(listener, 4096) < 0) fail("listen");
	for (int i = atoi(argv[3]); i > 0; i--) {
		pid_t pid = fork();
		if (pid < 0) fail("fork");
		if (pid > 0) continue;
		prctl(PR_SET_PDEATHSIG, SIGTERM); // the workers end with the parent
		work(listener, atoi(argv[2]));
	}
	while (wait(NULL) > 0) {
	}
}
