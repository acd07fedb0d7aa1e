// Package hm trains and evaluates Helmholtz machines: generative models with a
// top-down generative network p and a bottom-up recognition network q, learned
// layer by layer without back-propagation.
package hm
