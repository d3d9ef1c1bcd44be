// Package jobs does what a stored queue says is due: webhooks and emails are its jobs. Several
// processes may run one queue.
//
// A job has a time at which it is due. A process claims it by moving that time ahead by a lease,
// with a write that only one process can win, so no two do a job at the same time. A job that a
// process has claimed and not finished when it dies comes due again at the end of the lease, for
// the first process that looks. A job is therefore done at least once: twice if its process dies
// between doing it and storing that it is done.
//
// # Choices
//
// The store is read when a job is made in this process (Wake), when the next one that is known
// comes due, and at an interval for what other processes have left. No process tells another.
//
// While the store fails it is read again after a pause that doubles from 0.1 to 10 seconds, even if
// Wake is called.
package jobs
