local early = load()
if early then return early end
local call = the_call()
if not call or FINAL[call.state] or call.state == 'started' then return commit(refused('not_asked', call), true) end
record('cancel', R.actor, R.note)
withdraw(call, R.actor, R.note)
return commit(settled(call))
