// Package ranking counts which applications, tools and users call most, in memory that does not
// grow with how many there are.
//
// # Choices
//
// It is a sketch (Metwally et al., "space-saving") of a thousand counters for each day and kind. A
// name that is not among them takes the place, and the number, of the smallest; that number is kept
// as what the count may be too high by. So whoever makes more than a thousandth of all calls is in
// it, what it says of a name is never too low by more than that, and a flood of names costs nothing.
//
// It is fed with batches that the store has acknowledged: beside the calls, and each call once. Each
// process writes documents of its own, at most once a minute and when it is closed; who reads adds
// them up. A kill loses up to a minute of it, and no more: rows of usage are exact without it.
//
// It is kept as long as the rows of hours, 400 days. A full one has about 40 KB.
package ranking
