-- ARGV[2]: the sealed result.
local early = load()
if early then return early end
local call = the_call()
if not call or R.run < 1 or R.run > call.runs then return commit(refused('not_asked', call)) end
if call.state == 'done' and call.done_run == R.run then return commit(settled(call)) end
if call.runs == R.run and (GRANTED[call.state] or call.state == 'started' or call.state == 'unknown') then
  record('finish', R.actor)
  M.tries = 0
  done(call, R.run, R.actor)
  return commit(settled(call))
end
if not call.late or call.late.run ~= R.run then
  record('late', R.actor, R.note)
  call.late = {run = R.run, at = now}
  show(call)
end
return commit(refused('too_late', call))
