// Package otp signs people in with one-time codes by email.
//
// A [Flow] says what a code is for: to sign in, to set a new password, to confirm an address. Each
// has two pages, one that asks for the address and one for the code.
//
// # Choices
//
// The store keeps an HMAC of a code under the browser's cookie, which it does not have. So the
// code works only in the browser that requested it, and a copy of the store does not help to try
// out the million codes. Each of the five tries is taken before the code is checked. Of the codes
// for one address, the newest of each network is valid, and the newest of the known browsers of
// its user: another client must not end the code that the user is typing.
//
// Known and unknown addresses are answered alike, because the lookup happens in the background, where the email is
// sent. How many codes an address is sent is decision 56, whatever they are for. All of it is one ticket in the store
// for each address, so it holds for every process and survives a restart; it takes 135 entries at most, each with a
// network, and ends an hour after the last. Confirming a new address counts as a request of an unknown client: nobody
// has signed in as its user yet.
//
// Where sign-up is closed, an unknown address is sent nothing. Where it is by invitation, the page that asks for the
// address has a field for the code of one, which is looked up before anything is sent and used up with the code by
// email; without it an unknown address is sent nothing. A user who has no
// password is sent nothing by the page to reset it. An address is a sign-in method for good, hence
// the recent sign-in to confirm one.
//
// A form without a code of six digits is answered 400; nothing is looked up and no failure counted.
package otp
