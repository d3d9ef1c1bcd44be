// Package device lets users allow what devices without a browser ask for, by a code that the device
// shows (RFC 8628).
//
// An application asks for a device_code; the user opens the page, signs in, types the code that the
// device shows, sees who asks for what, and answers; the device meanwhile polls the token endpoint.
//
// # Codes that users type
//
// A code has 8 of 20 letters: 20^8 = 2.56 * 10^10 codes, of which as many are good as devices wait.
// Trying one needs a session. A user may type 5 wrong ones in ten minutes, the life of a code, and an
// address 30. While 2,048 devices wait, beyond which package limits begins to refuse networks that have
// begun many, a guess is right with 2,048 / (2.56 * 10^10) = 8 * 10^-8, and a user who guesses all the
// time finds one in ten minutes with 4 * 10^-7: in 48 years, once. Ten thousand stolen accounts behind
// as many addresses find one in ten minutes with 0.4 %. The find is the request of a stranger's device,
// which would then act for the finder.
//
// A device_code has 192 random bits and is not guessed.
//
// # Choices
//
// The request of a device is a [storage.Ticket]. Its Version decides between a yes and a no at the
// same moment, on whatever nodes; the page stores the user's consent first, so that nothing is ever
// allowed that the account page does not show. The answer to a poll is made of the ticket: the record
// by which the device_code is redeemed is the same at each poll, is stored by the poll that redeems
// it, and is spent in one step, so of any number of polls one is answered with tokens, and a process
// that is killed at any point leaves either a device that can poll again or one that has been
// answered. The record outlives the ticket by half an hour, so that no clock finds the ticket alive
// and the record gone.
//
// The user is always asked, also for a first-party application and for what they have allowed before:
// the page stands between them and another person who has begun the request and sent them the code (RFC
// 8628 5.4). A code that came with the link is filled in and not looked up before the user says that
// their device shows it. The page says at which address the request was begun, and warns where that is
// not in the network of the browser. A no is kept until the code ends, so that the device is told.
//
// Polls are counted by device_code, at most 60 a minute, and not by the address: many devices may have one. Polls
// beyond that count for the address. A poll that comes before its time is told to slow down and adds 5 seconds to
// the interval, to a minute at most. The pace is kept in memory and by the shared counters.Counter, if there is
// one: a poll writes nothing to the store. A device_code of another application is unknown, and asking for it slows
// nobody down.
package device
