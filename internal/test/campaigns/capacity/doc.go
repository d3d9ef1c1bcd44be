// Command capacity is a model of how much a cluster of Keystile holds, and prints it as a page.
//
//	go -C internal/test/campaigns run ./capacity                                 # the page
//	go -C internal/test/campaigns test ./capacity -run Measure -measure -v # on servers of .ci/postgres and .ci/redis
//
// measured.go has figures that the second command printed, and nothing else; assumed.go has what
// nobody measured here. model.go turns both into what a number of nodes and primaries holds, and which
// resource ends first; region.go plays the failure of a region, second by second; reserved.go says what
// the formats and contracts of today leave room for.
//
// # Choices
//
// A primary is a PostgreSQL of its own with its own people: nothing divides one store among several
// today, so more than one primary means as many services side by side, and something in front that
// knows whose is whose. The model says what that would hold, and reserved.go what is missing for it.
//
// Each resource is taken by itself, at the share of it that may be used. Queues, and what one resource
// does to another, are not in it: it says where a wall stands, and not what the last second before it is
// like.
package main
