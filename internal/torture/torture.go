// Package torture finds out what becomes of a program whose world fails: that is
// killed at any of its system calls, whose disk is full, or whose files are damaged.
// Only tests use it.
package torture
