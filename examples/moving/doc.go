// Command moving takes an application from connect.php to OpenID Connect. The application was
// written for aggregated login: it runs unchanged, then on one line of its own it signs people in
// by the authorization code flow, and finds the same people under the same ids.
//
//	app.go      the application: it keeps its people by the id that it was given
//	old.go      how it signs people in today: connect.php, signed with MD5
//	new.go      how it signs them in tomorrow: a code, PKCE, and an id_token
//	host.go     Keystile, with the application's appid and appkey
//	browser.go  somebody's browser
//	main.go     go run ./examples/moving
package main
