// Package chart renders the Helm chart of examples/deploy as helm does, without a cluster, and holds what
// comes of it against the types of Kubernetes and against the program that reads its configuration. It is a module
// of its own, because the program needs nothing of Helm and Kubernetes.
package chart
