// Package notify describes what others are told of users: applications of the end of sessions, operators of
// what happens to accounts. Package storage keeps it in queues of its deliveries until it is sent.
//
// # What is promised
//
// A user event is stored in the step that makes it true: there is no change without its event, and no event
// without its change. It says that something happened, and which fields or sign-in methods it was about, never
// a value: who wants to know more asks. While no webhook is set, no event is stored, and none is made up later.
//
// Of the end of one session, the applications that it has given a code to are told; that is stored in the step
// that ends it. Of a sign-out everywhere, and of an account that is locked, erased or given another password
// or role, all applications that the user has met are told, without a session; that is stored after the sessions
// have ended and before it is answered. Where a process is killed between the two, nothing was answered, and
// doing it again tells them all. Nobody is told of sessions that end by themselves, with their time.
//
// A queue keeps its order, and the newest storage.MaxTold. The number of dropped deliveries is in the one that
// takes their place, and put on the audit trail when that is sent.
//
// # Choices
//
// Queues are deliveries of package storage, as those of capabilities are; their names have a colon, which names
// of capabilities have not. They are sent by package oauth, see there.
//
// A [Logout] names no session of ours, and a [UserEvent] no name, address or secret: receivers are others' machines.
package notify
