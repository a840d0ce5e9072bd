-- ARGV[2], ARGV[3]: of an edit, the new input and content, sealed; content may be empty.
local early = load()
if early then return early end
local call = the_call()
local askable = call and (call.state == 'open' or call.state == 'unknown' and R.act ~= 'modify')
if not askable then
  local expired = call and call.decision and call.decision.kind == 'expire'
  return commit(refused(expired and 'expired' or 'not_asked', call), true)
end
if call.revision ~= R.revision then return commit(refused('changed', call), true) end
if now >= call.deadline then
  expire(call)
  return commit(refused('expired', call))
end
if math.abs(now - R.checked_at) > CHECK_AGE_MS then return commit(refused('not_checked', call)) end

if R.act == 'reject' then
  record('reject', R.actor, R.note)
  close(call, call.state == 'unknown' and 'abandoned' or 'rejected', 'reject', R.actor, R.note)
  return commit(settled(call))
end
if R.act == 'modify' then
  record('modify', R.actor, R.note)
  if not call.original_tag then
    call.original_tag = call.input_tag
    blobs['original:' .. call.id] = redis.call('HGET', REPLY, 'input:' .. call.id)
  end
  call.because, call.revision, call.digest, call.votes = 'edited', call.revision + 1, R.digest, {}
  call.quorum = math.max(call.quorum, R.quorum)
  call.content_tag = ARGV[3] ~= '' and R.tag or call.content_tag or call.input_tag
  call.input_tag = R.tag
  blobs['input:' .. call.id] = ARGV[2]
  if ARGV[3] ~= '' then blobs['content:' .. call.id] = ARGV[3] end
else
  for _, vote in ipairs(call.votes) do
    if vote.actor[2] == R.actor[2] then return commit(refused('voted', call), true) end
  end
  record('approve', R.actor, R.note)
end

call.votes[#call.votes + 1] = {actor = R.actor, at = now, note = R.note, op = R.note and R.op}
if #call.votes < call.quorum then
  put(call, R.actor)
  return commit({k = 'Counted', revision = call.revision, votes = #call.votes, quorum = call.quorum})
end
decided(call, R.act, R.actor, R.note)
call.state, call.deadline, call.grant_until = 'approved', nil, now + call.grant_lifetime_ms
put(call, R.actor)
return commit({k = 'Granted', revision = call.revision, votes = #call.votes, grant_until = call.grant_until})
