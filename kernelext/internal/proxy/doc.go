//go:build unix

// Package proxy stands between Jupyter and GoNB: it starts GoNB as its child, speaks the Jupyter
// protocol with both, and passes messages between them.
//
//	front ends ── tcp ──► ROUTER shell, control, stdin ──► DEALER ── unix ──► GoNB
//	           ◄── tcp ── PUB iopub                    ◄── SUB    ◄── unix ──
//
// Each connection uses zmq4, with its handshake and framing. This package implements the sockets
// on top of the connections itself: each client has a queue, and no lock is held while waiting for
// a client. With the sockets of zmq4, one front end that stops reading would block all front ends.
package proxy
