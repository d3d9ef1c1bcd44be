// Package mcpbus has the tests of package mcpbus that need other rooms: the provider, whose tokens the dialogues ask
// for, and the registrar. An importer of mcpbus would pay for what they import.
package mcpbus
