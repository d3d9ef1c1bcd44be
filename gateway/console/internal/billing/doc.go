// Package billing shows what applications have ordered, what tiers allow and cost, and what is
// left of a quota; administrators decide about orders and set tiers.
//
// # Choices
//
// The page of orders begins with those that wait, for whoever sees everybody's: they are why an
// administrator comes. A list goes on behind the last order of a page, and nothing is counted.
//
// Settlements are made as they are shown, twenty applications at a time, because each costs reads of
// its own: first the applications that there are, then those that were removed. A file has up to five
// hundred, and is made whole before it is sent.
//
// Amounts are integers of fen, and become yuan only as text.
package billing
