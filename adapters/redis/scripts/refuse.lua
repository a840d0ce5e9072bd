local early = load()
if early then return early end
local gone = lost()
if gone then return commit(gone) end
local call = the_call()
if not call or not GRANTED[call.state] then return commit(refused('not_asked', call)) end
if R.policy ~= (redis.call('GET', POLICY) or '') then return commit(refused('policy_moved', call)) end
record('refuse', R.actor, R.note)
close(call, call.runs > 0 and 'abandoned' or 'denied', 'deny', R.actor, R.note)
return commit(settled(call))
