// Package newpassword changes the password of who is signed in.
//
// # Choices
//
// The page takes the current password as a sign-in does, so it asks for no other recent one. A new
// password ends the user's sessions and grants and is told to their address. Who has set one by
// email is signed in: the code would have done that as well.
package newpassword
