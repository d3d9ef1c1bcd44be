// Package newpassword changes the password of a signed-in user.
//
// # Choices
//
// The page takes the current password as a sign-in does, so it needs no other recent one, except of
// who has a second factor: they have signed in with it in the last ten minutes. A new
// password ends the user's sessions and grants, and is notified to their address. After setting one
// by email the user is signed in: the code alone would have done that as well.
package newpassword
