// Package ranking holds which applications, tools and users called most in a day, as one process
// has counted it. It keeps nothing: storage.Store does, and gateway/usage adds up those of all processes.
//
// A [Ranking] has up to [MaxNames] names. Floor is the most calls that a name which is not in it can have, so who
// adds several of them up knows what of the sum is exact.
//
// # Choices
//
// The lists are packed before they are stored ([Ranking.Pack]): a page reads many of them, and reading
// them as JSON takes ten times as long. Rankings are kept as long as usage by the hour.
package ranking
