// Package openapi has other validators check the requests that tools make: kin-openapi's request
// filter, and Prism. Documents are registered, their tools are called through the bus with
// arguments that their schemas admit, and the validators say whether what arrives is what the
// document describes. It holds tests only.
package openapi
