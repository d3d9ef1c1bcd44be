package storage

import "time"

// Limits of records.
const (
	MaxTimeout = 10 * time.Minute // of one call of a tool, from its request to the last byte of the answer

	MaxWaiting   = 50                 // deliveries of one capability; a newer one takes the place of the oldest that was not tried
	MaxPayload   = 64 << 10           // bytes of a delivery
	DeliveryLife = 7 * 24 * time.Hour // from its making, and again from when it was given up

	MaxTold        = 500           // deliveries of one application, and of user events; likewise
	LogoutLife     = 3 * time.Hour // in which an application can be told of the end of a session
	MaxSessionApps = 40            // applications that are told of the end of one session

	MaxMail     = 64 << 10       // bytes of the content of an email
	MaxMailLife = 24 * time.Hour // in which it must be handed over

	MaxTicketLife     = time.Hour
	MaxInvitationLife = 90 * 24 * time.Hour
)
