// Package newpassword changes the password of a signed-in user.
//
// # Choices
//
// The page takes the current password as a sign-in does, so no recent sign-in is required, unless
// the user has a second factor: then they must have signed in with it within the last ten minutes.
// A new password ends the user's sessions and grants, and a notice goes to their address. After
// setting one by email the user is signed in: the code alone would have done that as well.
package newpassword
