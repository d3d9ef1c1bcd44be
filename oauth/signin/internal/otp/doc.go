// Package otp signs people in with one-time codes by email.
//
// A [Flow] says what a code is for: to sign in, to set a new password, to confirm an address. Each
// has two pages, one that asks for the address and one for the code.
//
// # Choices
//
// What is kept of a code is an HMAC under the browser's cookie, which the store does
// not have. So the code works in the browser that asked for it alone, and a copy of the
// store is of no use to whoever would try out the million codes. Each of the five tries is
// taken before the code is looked at. Of one address the newest code alone is valid that was
// asked for from one network, or from the known browsers of its user: a stranger must not end
// the code that somebody is typing.
//
// A known and an unknown address are answered alike because the question which of the two
// it is is asked beside the request, where the email is sent. The pauses between emails
// count both. Of one address a network is sent five codes an hour, a minute apart, whatever they
// are for, and all networks together twenty; the browsers in which its user has signed in have
// five of their own, which nobody else can use up (decision 56). So there are at
// most 125 tries an hour at the million codes. Who is nowhere known and asks after strangers have
// used up the twenty must wait: that is the price. All of this is one ticket in the store for
// each address, so it holds for every process and survives a restart; it takes some 25 entries,
// each with a network, and ends an hour after the last. To confirm a new address is to ask as a
// stranger: nobody has signed in as its user yet.
//
// Where sign-up is by invitation or closed, an unknown address is sent nothing. A user who has no
// password is sent nothing by the page to reset it. An address is a sign-in method for good, hence
// the recent sign-in to confirm one.
//
// A form without a code of six digits is answered 400, is looked up nowhere and counts as no failure.
package otp
