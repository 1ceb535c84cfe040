// Package agent executes a plan of package load on several machines, which NATS connects.
//
// [Serve] is an agent: it waits for work. [Run] is a coordinator: it gives each agent a share
// of a plan, starts all at one instant, and merges their results. A run needs no JetStream.
//
// These are the subjects, below one that both sides have in common, such as weir.load:
//
//	SUBJECT.call             a coordinator asks which agents there are
//	SUBJECT.agent.AGENT      requests to one agent
//	SUBJECT.run.RUN          reports of the agents to the coordinator of a run
//	SUBJECT.run.RUN.alive    the coordinator's heartbeat
//
// An agent that the coordinator does not hear for 10 s is lost. The result then has the
// requests that had ended until its last report, which agents send each second. An agent that
// does not hear the coordinator for 10 s stops, and waits for work again.
//
// A client of the NATS server that may publish on these subjects can make the agents send
// requests to any server. An agent opens no file that the coordinator did not send.
package agent
