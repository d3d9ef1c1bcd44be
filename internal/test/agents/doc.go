// Package agents has what agents sign in to and who lets them in: a whole service on a loopback port
// with a few tools, and a person at a browser. Tests hold it against clients of others, unmodified.
package agents
