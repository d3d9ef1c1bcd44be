// Package headername tells by their names which headers of a client must not reach a service that
// believes what stands before it.
//
// Two kinds are refused. A claim is a header by which proxies tell the services behind them who calls,
// from where, or which request is really meant: a service believes it, whoever sends it, so a client
// could pass for another by sending it. And a name that holds anything but letters, digits and - may be
// taken for a claim: CGI and its heirs make a variable of each name, in which other characters become _.
// PHP does so with a dot, lighttpd with every other character, so that X.Keystile~User and
// X-Keystile-User are one variable, and the last one wins.
//
// # Choices
//
// Claims are those of Keystile and those that proxies, content networks and sign-in proxies are known
// to write; a name that one service alone believes is not known here. All are refused wherever
// the service stands: whether there is a proxy of that kind before Keystile cannot be seen in a request,
// and what such a proxy has found out, Keystile says in headers of its own.
//
// Headers that make another method or another path of a request (X-HTTP-Method-Override, X-Original-Url)
// are among them: the request that was checked, charged and written to the trail is the one that the service answers.
package headername
