// Package legacy serves the old endpoints, /connect.php and /check_token.php with the MD5
// signature, for applications that were written against them (protocol 4.10, 5, 9).
//
//	old, err := legacy.New(ctx, legacy.Config{
//		BaseURL: origin, Store: store, SignIns: provider, Codes: provider, Verifier: tokens, Visitors: signIn,
//	})
//	old.Mount(mux)
//
// An application calls act=login and is given an address. The user signs in there, at the
// one provider there is, and comes back to redirect_uri with type and code. act=callback
// redeems the code for the user's identity and an access token. act=query looks the user
// up again, act=check_sso tells whether a browser is signed in, check_token whether a
// token is valid.
//
// type is a method that the sign-in page offers: self, email, wx, qq, alipay, douyin, or the name of another
// connector, such as feishu or wecom, which aggregated logins call wework. The browser is led straight to that
// provider, even if its user is signed in by another way, and the application is told the type that it asked for. self,
// which is the default, is the sign-in page, and whatever way its user chooses or is signed in by. A type that is not
// offered is refused (104): the error names those that are, and what the operator has to set.
//
// The clients of the family that this is for take code 0 for a success: 26 of 34 that were looked at demand it, and
// none takes 1. Protocol 4 says 1, which stays the default. For such a client the application is registered with
//
//	keystile app create --name Forum --domain forum.example.com --legacy
//
// or changed with keystile app set CLIENT_ID --legacy-success-code 0, or on its page in the console; a program sets
// storage.App.LegacySuccessCode.
//
// Every answer has code: 1, or 0 for applications with LegacySuccessCode 0, is a success;
// 2 a sign-in that is not back yet; -1 a refusal, with errcode and msg:
//
//	101    a parameter is missing, malformed, sent twice or, in a signed request, ambiguous
//	102    appid unknown or disabled
//	103    appkey or sign wrong, a signature wanted, redirect_uri not registered
//	104    type unknown, not offered, or not the code's
//	105    timestamp missing, malformed or more than 300 s off
//	106    social_uid unknown to this application
//	107    code unknown or expired
//	40163  code redeemed before
//	201    the store does not answer (HTTP 503)
//	301    something else behind this endpoint failed (HTTP 500)
//	401    the access token is no good
//	429    too many requests, or too many wrong keys
//
// # From connect.php to OAuth in three steps
//
// Nothing that an application has stored changes: the social_uid of a user is the openid of
// the token response, appid and appkey are client_id and client_secret.
//
// 1. Instead of calling act=login, send the browser to /oauth/authorize with
// response_type=code, client_id, redirect_uri, state and a PKCE challenge. Draw state for each
// sign-in and compare it when the browser is back.
//
// 2. Instead of act=callback, POST the code to /oauth/token with grant_type=authorization_code,
// the same redirect_uri, the code_verifier, client_id and client_secret. Success is code 0
// with HTTP 200; user.openid, user.nickname, user.avatar and user.login_type are there.
//
// 3. Instead of act=query and check_token, GET /oauth/userinfo with the access token as a
// bearer; HTTP 401 means that it is no good. A session that should last longer is kept by
// the refresh token.
//
// Example_fromConnectToOAuth in internal/test/service/legacy shows both ways side by side. Two applications of one
// owner can be moved one after the other: the old endpoints stay open meanwhile. Package migration reports who
// still uses them.
//
// # What the signature cannot promise
//
// The MD5 signature (protocol 5) is kept for what was written against it. It proves that somebody
// who had the appkey has put these parameters together within the last five minutes. It does
// not promise what a signature is expected to:
//
//   - It can be used again. There is no nonce: who sees a signed address may send it as often
//     as they like until its timestamp is 300 seconds old. What must happen once is protected
//     by codes, which are redeemed once.
//   - It does not tell where a parameter ends. Values are joined with & and = and not escaped,
//     so one text stands for several requests. Parameters that read as if another one of the
//     endpoint's began within them are refused (101), because an application that passes on its
//     visitors' state would sign what they like. A redirect_uri may hold anything, addresses do,
//     and so may parameters that mean nothing here: one that reads &state=x behind a redirect_uri
//     could have been the state. Compare state, and register whole redirect_uris.
//   - It is MD5 with the key at the end: a collision of two texts is one of their signatures too,
//     and the appkey can be searched for by whoever has seen a request, at the speed of MD5. An
//     appkey is 256 random bits here; one that was chosen by hand is not safe.
//   - It hides nothing, and does not cover the answer, the method or the path: a request signed
//     for /connect.php is signed for /check_token.php.
//
// # Choices
//
// The browser's part is the provider's own, so that there is one sign-in, one session and one
// kind of grant. An address from act=login carries a ticket that only the provider and the
// application can make; it is good for ten minutes and for one redirect_uri, type and state.
//
// A browser is led to a provider once in a sign-in. Whoever then comes in by another way goes on, and the application
// is told that way: a user whom the provider leads to no account here would be led in a circle otherwise. Nothing else
// that stands before an application is left out on that way: consent, second factors, sign-up that is closed.
//
// A refusal is HTTP 200, because PHP's file_get_contents drops the body of anything else. What
// a client should notice whatever it reads (too many requests, a body too large, a fault of
// ours) has its own status. In a navigation of a browser a refusal is a page.
//
// A parameter sent twice is refused, signed or not. A sign or a timestamp, even an empty one,
// makes the signature decide alone. Names are held to what is said above of values: a name with
// an & or = in it hides another one just as well.
//
// A second act=callback ends nothing, unlike a replay at /oauth/token: old clients repeat the
// call whenever their page is loaded again, with the appkey that proves that it is them. It
// issues no refresh token: there is nothing here to exchange one at.
//
// act=query goes by social_uid; type only has to be a login type, or one that is offered. A user has one social_uid
// per application however they signed in, and the answer names the last way.
//
// check_sso is for browsers and needs no key; a visitor is named only to an application that
// proves itself and has met them. To pages of other sites it answers that nobody is signed
// in.
package legacy
