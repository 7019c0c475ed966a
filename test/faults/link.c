// The way between two hosts of the lab's network: `link left right` makes these two devices and hands packets from one to
// the other. Lines of its input say how: `delay 1000` (milliseconds, each way), `lose 1`, `lose 0`. It ends with its input.
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define LARGEST 2048

struct packet {
  struct packet *before, *after;
  long due;
  int to;
  ssize_t size;
  char bytes[LARGEST];
};

static struct packet *first, *last;
static long delay;
static int is_lost;

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static int device(const char *name) {
  struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
  int file = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
  strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  if (file < 0 || ioctl(file, TUNSETIFF, &request) < 0) {
    perror(name);
    exit(1);
  }
  return file;
}

// In the order in which packets are due: those with a shorter delay overtake the others.
static void carry(int from, int to) {
  struct packet *packet = malloc(sizeof *packet);
  if (!packet) exit(1);
  packet->size = read(from, packet->bytes, LARGEST);
  if (packet->size <= 0 || is_lost) {
    free(packet);
    return;
  }
  packet->due = now() + delay;
  packet->to = to;
  packet->before = last;
  while (packet->before && packet->before->due > packet->due)
    packet->before = packet->before->before;
  packet->after = packet->before ? packet->before->after : first;
  if (packet->before) packet->before->after = packet;
  else first = packet;
  if (packet->after) packet->after->before = packet;
  else last = packet;
}

static void deliver(void) {
  while (first && first->due <= now()) {
    struct packet *packet = first;
    first = packet->after;
    if (first) first->before = NULL;
    else last = NULL;
    // What a device does not take, as one that is not up yet, is lost.
    ssize_t written = is_lost ? 0 : write(packet->to, packet->bytes, packet->size);
    (void)written;
    free(packet);
  }
}

static void obey(void) {
  char text[256];
  ssize_t size = read(0, text, sizeof text - 1);
  if (size <= 0) exit(0);
  text[size] = 0;
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    sscanf(line, "delay %ld", &delay);
    sscanf(line, "lose %d", &is_lost);
  }
}

int main(int count, char **names) {
  if (count != 3) return 1;
  int left = device(names[1]), right = device(names[2]);
  struct pollfd files[] = {{0, POLLIN, 0}, {left, POLLIN, 0}, {right, POLLIN, 0}};
  puts("ready");
  fflush(stdout);
  for (;;) {
    long wait = first ? first->due - now() : -1;
    if (poll(files, 3, first && wait < 0 ? 0 : (int)wait) < 0) return 1;
    if (files[0].revents) obey();
    if (files[1].revents) carry(left, right);
    if (files[2].revents) carry(right, left);
    deliver();
  }
}
