// Package billing shows what applications have ordered, what tiers allow and cost, and what is
// left of a quota; administrators decide about orders and set tiers.
//
// # Choices
//
// The page of orders begins with those that wait, for whoever sees everybody's: they are why an
// administrator comes. A list goes on behind the last order of a page, and nothing is counted.
//
// Amounts are integers of fen, and become yuan only as text.
package billing
