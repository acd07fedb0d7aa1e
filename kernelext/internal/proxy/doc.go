//go:build unix

// Package proxy stands between Jupyter and GoNB: it starts GoNB as its child,
// speaks the Jupyter protocol with both, and passes what one says to the other.
//
//	front ends ── tcp ──► ROUTER shell, control, stdin ──► DEALER ── unix ──► GoNB
//	           ◄── tcp ── PUB iopub                    ◄── SUB    ◄── unix ──
//
// Each connection is one of zmq4's, with the handshake and the framing that it
// does. The sockets over them are this package's own: a queue for each client
// and no lock that is held while one of them is waited for. With zmq4's own
// sockets, one front end that stops reading stops them all.
package proxy
