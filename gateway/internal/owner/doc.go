// Package owner answers below /api/v1/apps and /api/v1/billing/: there owners manage their
// applications and order tiers, with a token that carries the scope apps, and an application
// manages itself, as far as it may. See package gateway for who may do what.
package owner
