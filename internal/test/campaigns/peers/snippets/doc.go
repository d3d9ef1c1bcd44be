// Package snippets runs the code that the console shows for an application, as it is printed there but for
// the secret, with the libraries that it names.
package snippets
