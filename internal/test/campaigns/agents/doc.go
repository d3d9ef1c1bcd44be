// Package agents has what agents sign in to and who lets them in: a whole service on a loopback port
// with a few tools, and a person at a browser. Tests hold it against clients of others, unmodified, in
// package peers, and here against what such clients were recorded to send (testdata/dialogues).
package agents
