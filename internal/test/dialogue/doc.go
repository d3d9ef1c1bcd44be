// Package dialogue plays golden HTTP dialogues: text files that say what a client sends
// and what it must be answered, for people to hold against the protocol.
//
// A file holds dialogues; each begins with a heading and may name the rows of the protocol
// that it proves:
//
//	== a code is redeemed once
//	rows: 3.1/issued 3.1/consumed
//
//	> POST /oauth/token
//	> Content-Type: application/x-www-form-urlencoded
//	>
//	> grant_type=authorization_code&code={{code}}&client_id={{client_id}}
//
//	< 400
//	< Cache-Control: no-store
//	<
//	< {
//	<   "error": "invalid_grant",
//	<   ...
//
// In a request {{name}} is replaced by a value, {{name:form}} by the value URL-encoded. In an answer {{name}}
// is the value as it is known, or, in the form {{name:shape}}, anything of a shape, remembered under the name
// from there on; {{:shape}} is not remembered. A JSON body is compared in the order it was sent, indented; a
// header that is not named is not looked at. A line "<~ text" stands for a body that has the text somewhere.
//
// "times 60" before a request sends it as often, each time to be answered so; "times 60
// every 1s" lets a second pass after each. "wait 5m1s" lets time pass: dialogues run in a
// testing/synctest bubble. A line that begins with # is for the reader.
//
// With KEYSTILE_TEST_WIRE in the environment each request is written as bytes to a connection that package
// plainhttp serves, in place of a call of the handler.
package dialogue
