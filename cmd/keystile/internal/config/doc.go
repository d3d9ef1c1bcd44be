// Package config is the one table of configuration keys and the three places values come
// from: a YAML file, the environment and flags. A flag wins over the environment, which
// wins over the file.
//
// One line of the table gives a key its name in all three: lifetimes.code is written so
// (or nested) in the file, KEYSTILE_LIFETIMES_CODE in the environment and
// --lifetimes-code on the command line.
//
// # Choices
//
// Every mistake is reported, all at once: an unknown key with the nearest known one, a
// bad value with the place it came from and an example of a good one. Nothing is ignored
// but an empty variable, which container tools set for "not given", and the variables
// that Kubernetes adds for a Service that happens to be called keystile.
//
// The master key itself comes from the environment or a file of its own, never from a
// flag (every user of a machine can list those) and never from the configuration file
// (which is copied around).
//
// The output of "keystile config" is a configuration file.
package config
