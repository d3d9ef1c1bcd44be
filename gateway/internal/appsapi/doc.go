// Package appsapi answers below /api/v1/apps and /api/v1/billing/: there owners manage their
// applications and order tiers, with a token that carries the scope apps, and an application
// manages itself, as far as it may. See package gateway for the rights of each.
//
// It does not matter to which application a user's token was issued: the scope apps is consented to
// each time, and that consent lets an application manage the others. An application's own token is for
// that application alone: its secret is on servers, and must not open its owner's other applications.
// It may read its own record, rotate its own secret, order a tier and cancel a pending order, and may
// not change its redirect addresses or other settings, which a thief of the secret could do too. A
// foreign application is answered as an unknown one, to administrators too.
//
// Each change is on the audit trail, with the state before and after, and the owner is notified. A
// secret is shown there by the beginning of its hash: it is random, so no one finds it by guessing.
package appsapi
