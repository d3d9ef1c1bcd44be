// Package people keeps users and what belongs to them: the logins that they are found by, what they have allowed
// applications, the openids by which applications know them, and invitations.
//
// Programs use its records and methods by package storage, which names them as its own:
//
//	user, err := store.CreateUser(ctx, storage.User{Username: "ada"},
//		storage.Login{Method: storage.LoginSelf, Subject: "ada"})
//
// A user is written together with the logins and with the user events that tell of the change
// ([Store.SetUserWebhook] of package service says where to). Errors are those of package storage.
//
// # Choices
//
// [Store.EraseUser] removes what belongs to a user in bounded steps, and the user last, so that it is done
// again where it breaks off. A record that is made for the user meanwhile finds the mark of the erasure and is
// removed by its writer.
package people
