//go:build unix

// Package proxy stands between Jupyter and GoNB: it starts GoNB as its child, speaks the Jupyter
// protocol with both, and passes messages between them.
//
//	front ends ── tcp ──► ROUTER shell, control, stdin ──► DEALER ── unix ──► GoNB
//	           ◄── tcp ── PUB iopub                    ◄── SUB    ◄── unix ──
//
// A message of a front end is received by an endpoint, verified, and decided upon once: the kernel
// answers it, or edits it and sends it to GoNB when its turn comes. A message of GoNB is edited and
// passed to the front ends.
//
// The package implements ZeroMQ's sockets itself: each client has a queue, and no lock is held while waiting for
// a client. With the sockets of zmq4, one front end that stops reading would block all front ends, and a stranger who
// announces a large message would fill the memory.
package proxy
