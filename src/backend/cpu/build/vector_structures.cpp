#include "backend/cpu/build/vector_structures.h"

#include <llvm/Analysis/VectorUtils.h>

#include <algorithm>
#include <bit>

#include "backend/cpu/build/register_bits.h"
#include "backend/cpu/build/structures_in_turn.h"
#include "backend/cpu/build/vector_groups.h"
#include "backend/cpu/build/vector_lanes.h"
#include "backend/cpu/build/vector_memory.h"

// A row of structures is a row of registers. Where their fields are even in number, to take those of even and those of
// odd number apart halves the task; where they are odd, each lane's field is picked from one register after the other.
// So no shuffle reads more than two registers, and 32 structures of 4 floats are 8 loads and 16 shuffles.

namespace cupola::cpu::build {
namespace {

using llvm::Type;
using llvm::Value;
using Registers = llvm::SmallVector<Value*, 8>;

Type* type_of(const Group::Member& member) {
  return llvm::getLoadStoreType(member.access);
}

Value* address_of(const Group::Member& member) {
  return llvm::getLoadStorePointerOperand(member.access);
}

const Group::Member& member_at_place(const Group& group) {
  return *llvm::find_if(group.members, [&](const Group::Member& one) { return one.access == group.place; });
}

/// A number of a field's size where the members' types differ.
Type* field_type(const Group& group) {
  Type* type = type_of(group.members.front());
  const bool is_same = llvm::all_of(group.members, [&](const Group::Member& one) { return type_of(one) == type; });
  return is_same ? type : Type::getIntNTy(type->getContext(), group.bytes * 8);
}

/// Of so many lanes beside each other.
unsigned step_lanes(const Lanes& lanes, const Group& group) {
  return lanes.shape(address_of(member_at_place(group))).lanes_in_step(lanes.blocks);
}

unsigned register_fields(const Lanes& lanes, const Group& group) {
  const auto bytes = std::max<unsigned>(register_bits(lanes.target) / 8, 2 * group.bytes);
  return std::min(std::bit_floor(bytes / group.bytes), step_lanes(lanes, group));
}

/// What is known of the address of the first field in each lane.
llvm::Align alignment_of(const Group& group) {
  llvm::Align result(1);
  for (const Group::Member& member : group.members)
    result = std::max(result, llvm::commonAlignment(llvm::getLoadStoreAlignment(member.access),
                                                    static_cast<uint64_t>(member.offset - group.first)));
  return llvm::commonAlignment(result, group.stride());
}

class Structures {
 public:
  Structures(Lanes& lanes, const Group& group)
      : lanes_(lanes),
        builder_(lanes.builder),
        group_(group),
        type_(field_type(group)),
        step_(step_lanes(lanes, group)),
        width_(register_fields(lanes, group)),
        alignment_(alignment_of(group)) {}

  /// A vector for each field, poison where it is not used.
  Registers load() {
    Value* address = address_of(member_at_place(group_));
    Value* mask = lanes_.mask();
    const auto wanted = [&](unsigned i) { return mask ? lanes_.segment(mask, i) : nullptr; };
    switch (lanes_.shape(address).kind) {
      case Shape::Kind::Affine:
        return load_step(first_field(lanes_.scalar(address)), mask);
      case Shape::Kind::Periodic: {
        Value* any = wanted(0);
        for (unsigned i = 1; any && i < lanes_.segment_count(); ++i) any = builder_.CreateOr(any, wanted(i));
        Registers fields = load_step(first_field(lanes_.scalar(address)), any);
        for (Value*& field : fields) field = lanes_.join_segments(Bases(lanes_.segment_count(), field));
        return fields;
      }
      default: {
        llvm::SmallVector<Registers, 4> segments;
        for (const auto& [i, from] : llvm::enumerate(lanes_.bases(address)))
          segments.push_back(load_step(first_field(from), wanted(static_cast<unsigned>(i))));
        Registers fields;
        for (unsigned field = 0; field < group_.fields; ++field) {
          Bases parts;
          for (const Registers& segment : segments) parts.push_back(segment[field]);
          fields.push_back(lanes_.join_segments(parts));
        }
        return fields;
      }
    }
  }

  void store(const Registers& fields) {
    Value* address = address_of(member_at_place(group_));
    Value* mask = lanes_.mask();
    if (lanes_.shape(address).kind == Shape::Kind::Affine)
      return store_step(fields, first_field(lanes_.scalar(address)), mask);
    for (const auto& [i, to] : llvm::enumerate(lanes_.bases(address))) {
      const auto which = static_cast<unsigned>(i);
      Registers parts;
      for (Value* field : fields) parts.push_back(lanes_.segment(field, which));
      store_step(parts, first_field(to), mask ? lanes_.segment(mask, which) : nullptr);
    }
  }

  Type* type() const { return type_; }
  /// Bits of a field as another type of its size.
  Value* converted(Value* value, Type* to) {
    Type* wide = widened(to);
    return value->getType() == wide ? value : builder_.CreateBitOrPointerCast(value, wide);
  }
  /// The place of a member in each lane.
  Value* places(const Group::Member& member) {
    const Group::Member& known = member_at_place(group_);
    return moved(lanes_.vector(address_of(known)), member.offset - known.offset);
  }

 private:
  Value* moved(Value* address, int64_t bytes) {
    return bytes ? builder_.CreateGEP(builder_.getInt8Ty(), address, builder_.getInt64(static_cast<uint64_t>(bytes)))
                 : address;
  }
  /// The first field of the structure in which the member at the group's place is.
  Value* first_field(Value* address) { return moved(address, group_.first - member_at_place(group_).offset); }
  llvm::Align alignment_at(unsigned field) const {
    return llvm::commonAlignment(alignment_, uint64_t{field} * group_.bytes);
  }
  Value* place_at(Value* first, unsigned field) { return moved(first, int64_t{field} * group_.bytes); }
  llvm::FixedVectorType* register_type() const { return llvm::FixedVectorType::get(type_, width_); }
  unsigned register_count() const { return step_ * group_.fields / width_; }

  /// Fields that a member of a lane of `mask` uses, of those that lie in a register.
  Value* fields_in(unsigned number, Value* mask) {
    llvm::SmallVector<int, 64> owners;
    llvm::SmallVector<llvm::Constant*, 64> used;
    for (unsigned i = number * width_; i < (number + 1) * width_; ++i) {
      owners.push_back(static_cast<int>(i / group_.fields));
      used.push_back(builder_.getInt1((group_.used() >> i % group_.fields & 1) != 0));
    }
    Value* is_used = llvm::ConstantVector::get(used);
    return mask ? builder_.CreateAnd(builder_.CreateShuffleVector(mask, owners), is_used) : is_used;
  }

  /// Whose structures are in it.
  void note(llvm::Instruction& access, unsigned number) const {
    if (step_ == kLanes) note_lanes(access, number / group_.fields * width_, width_);
  }

  // ---- loads ----

  /// The structures of lanes beside each other.
  Registers load_step(Value* first, Value* mask) {
    Registers row;
    for (unsigned i = 0; i < register_count(); ++i)
      row.push_back(mask ? load_some(first, i, fields_in(i, mask)) : load_whole(first, i));
    llvm::SmallVector<llvm::SmallVector<Value*, 8>, 8> parts(group_.fields);
    for (unsigned i = 0; i < row.size(); i += group_.fields)
      for (const auto& [field, part] :
           llvm::enumerate(fields_of(Registers(row.begin() + i, row.begin() + i + group_.fields), group_.used())))
        parts[field].push_back(part);
    Registers result;
    for (const auto& of_field : parts)
      result.push_back(of_field.size() == 1 ? of_field[0] : lanes_.join_segments(of_field));
    return result;
  }

  Value* load_some(Value* first, unsigned number, Value* wanted) {
    const unsigned begin = number * width_;
    return builder_.CreateMaskedLoad(register_type(), place_at(first, begin), alignment_at(begin), wanted,
                                     llvm::Constant::getNullValue(register_type()));
  }

  /// All lanes run. What lies between two places that they read can be read: it is on the page of one of them. What
  /// lies behind the last one cannot, so that the last register begins earlier.
  Value* load_whole(Value* first, unsigned number) {
    const unsigned end = (step_ - 1) * group_.fields + group_.used_fields(), begin = number * width_;
    if (begin >= end) return llvm::PoisonValue::get(register_type());
    const unsigned too_far = std::max(begin + width_, end) - end, from = begin - too_far;
    llvm::LoadInst* loaded = builder_.CreateAlignedLoad(register_type(), place_at(first, from), alignment_at(from));
    note(*loaded, number);
    if (!too_far) return loaded;
    llvm::SmallVector<int, 64> order;
    for (unsigned i = 0; i < width_; ++i) order.push_back(i + too_far < width_ ? static_cast<int>(i + too_far) : -1);
    return builder_.CreateShuffleVector(loaded, order);
  }

  /// A register for each field, of as many registers of structures. Bit i of `used`: the field is asked for.
  Registers fields_of(const Registers& row, unsigned used) {
    const auto count = static_cast<unsigned>(row.size());
    if (count == 1) return row;
    Registers result;
    if (count % 2 != 0) {
      for (unsigned field = 0; field < count; ++field)
        result.push_back(used >> field & 1 ? picked(row, field) : llvm::PoisonValue::get(register_type()));
      return result;
    }
    Registers halves[2];
    for (unsigned half = 0; half < 2; ++half) {
      unsigned used_of_half = 0;
      for (unsigned field = half; field < count; field += 2) used_of_half |= (used >> field & 1) << field / 2;
      Registers part;
      for (unsigned i = 0; used_of_half && i < count; i += 2)
        part.push_back(builder_.CreateShuffleVector(row[i], row[i + 1], llvm::createStrideMask(half, 2, width_)));
      halves[half] =
          used_of_half ? fields_of(part, used_of_half) : Registers(count / 2, llvm::PoisonValue::get(register_type()));
    }
    for (unsigned field = 0; field < count; ++field) result.push_back(halves[field % 2][field / 2]);
    return result;
  }

  Value* picked(const Registers& row, unsigned field) {
    Value* result = row[0];
    for (unsigned i = 0; i < row.size(); ++i) {
      llvm::SmallVector<int, 64> order;
      for (unsigned lane = 0; lane < width_; ++lane) {
        const auto at = static_cast<unsigned>(lane * row.size()) + field;
        const unsigned of = at / width_, in_register = at % width_;
        order.push_back(of > i    ? -1
                        : i == 0  ? static_cast<int>(in_register)
                        : of == i ? static_cast<int>(width_ + in_register)
                                  : static_cast<int>(i == 1 ? in_register : lane));
      }
      if (i > 0) result = builder_.CreateShuffleVector(result, row[i], order);
    }
    return result;
  }

  // ---- stores ----

  void store_step(const Registers& fields, Value* first, Value* mask) {
    const unsigned all = (1u << group_.fields) - 1;
    unsigned number = 0;
    for (unsigned lane = 0; lane < step_; lane += width_) {
      Registers parts;
      for (Value* field : fields) parts.push_back(lanes_from(field, lane));
      for (Value* structures : structures_of(parts)) {
        const unsigned begin = number * width_;
        Value* place = place_at(first, begin);
        if (mask || group_.used() != all)
          builder_.CreateMaskedStore(structures, place, alignment_at(begin), fields_in(number, mask));
        else
          note(*builder_.CreateAlignedStore(structures, place, alignment_at(begin)), number);
        ++number;
      }
    }
  }

  Value* lanes_from(Value* field, unsigned lane) {
    if (width_ == step_) return field;
    return builder_.CreateShuffleVector(field, llvm::createSequentialMask(lane, width_, 0));
  }

  /// The way back from fields_of().
  Registers structures_of(const Registers& fields) {
    const auto count = static_cast<unsigned>(fields.size());
    if (count == 1) return fields;
    Registers result;
    if (count % 2 != 0) {
      for (unsigned i = 0; i < count; ++i) result.push_back(mixed(fields, i));
      return result;
    }
    Registers halves[2];
    for (unsigned half = 0; half < 2; ++half) {
      Registers part;
      for (unsigned field = half; field < count; field += 2) part.push_back(fields[field]);
      halves[half] = structures_of(part);
    }
    for (const auto& [even, odd] : llvm::zip(halves[0], halves[1]))
      for (unsigned begin : {0u, width_ / 2}) {
        llvm::SmallVector<int, 64> order;
        for (unsigned i = 0; i < width_; ++i) order.push_back(static_cast<int>(begin + i / 2 + i % 2 * width_));
        result.push_back(builder_.CreateShuffleVector(even, odd, order));
      }
    return result;
  }

  /// The register of structures with that number.
  Value* mixed(const Registers& fields, unsigned number) {
    Value* result = fields[0];
    for (unsigned field = 1; field < fields.size(); ++field) {
      llvm::SmallVector<int, 64> order;
      for (unsigned i = 0; i < width_; ++i) {
        const auto at = number * width_ + i, lane = at / static_cast<unsigned>(fields.size());
        const auto of = at % static_cast<unsigned>(fields.size());
        order.push_back(of > field    ? -1
                        : of == field ? static_cast<int>(width_ + lane)
                                      : static_cast<int>(field == 1 ? lane : i));
      }
      result = builder_.CreateShuffleVector(result, fields[field], order);
    }
    return result;
  }

  Lanes& lanes_;
  llvm::IRBuilder<>& builder_;
  const Group& group_;
  Type* const type_;
  const unsigned step_;   ///< lanes whose structures lie beside each other
  const unsigned width_;  ///< fields in a register, at most as many as there are such lanes
  const llvm::Align alignment_;
};

void load_group(Lanes& lanes, const Group& group) {
  llvm::IRBuilder<>& builder = lanes.builder;
  Structures structures(lanes, group);
  llvm::SmallVector<Type*, 8> types;
  for (const Group::Member& member : group.members) types.push_back(widened(type_of(member)));
  Type* whole = llvm::StructType::get(builder.getContext(), types);
  const auto each_of = [&](auto value_of) -> Value* {
    Value* result = llvm::PoisonValue::get(whole);
    for (const auto& [i, member] : llvm::enumerate(group.members))
      result = builder.CreateInsertValue(result, value_of(member), static_cast<unsigned>(i));
    return result;
  };
  const auto wide = [&] {
    const Registers fields = structures.load();
    return each_of(
        [&](const Group::Member& one) { return structures.converted(fields[group.field_of(one)], type_of(one)); });
  };
  const auto gathered = [&] {
    return each_of([&](const Group::Member& one) {
      return gather(lanes, structures.places(one), type_of(one), llvm::getLoadStoreAlignment(one.access));
    });
  };
  Value* condition = lanes.straight(address_of(member_at_place(group)));
  Value* values = condition ? lanes.choose(condition, whole, wide, gathered) : wide();
  for (const auto& [i, member] : llvm::enumerate(group.members))
    lanes.define(*member.access, builder.CreateExtractValue(values, static_cast<unsigned>(i)));
}

void store_group(Lanes& lanes, const Group& group) {
  Structures structures(lanes, group);
  llvm::SmallVector<Value*, 8> values;
  for (const Group::Member& member : group.members)
    values.push_back(lanes.vector(llvm::cast<llvm::StoreInst>(member.access)->getValueOperand()));
  const auto wide = [&]() -> Value* {
    Registers fields(group.fields, llvm::PoisonValue::get(widened(structures.type())));
    for (const auto& [member, value] : llvm::zip(group.members, values))
      fields[group.field_of(member)] = structures.converted(value, structures.type());
    structures.store(fields);
    return nullptr;
  };
  const auto scattered = [&]() -> Value* {
    for (const auto& [member, value] : llvm::zip(group.members, values))
      lanes.builder.CreateMaskedScatter(value, structures.places(member), llvm::getLoadStoreAlignment(member.access),
                                        lanes.full_mask(lanes.current));
    return nullptr;
  };
  Value* condition = lanes.straight(address_of(member_at_place(group)));
  if (!condition) return void(wide());
  lanes.choose(condition, nullptr, wide, scattered);
}

}  // namespace

bool can_widen_group(const Lanes& lanes, const Group& group) {
  Type* type = llvm::FixedVectorType::get(field_type(group), register_fields(lanes, group));
  const unsigned all = (1u << group.fields) - 1;
  const bool needs_mask = lanes.has_mask() || (group.is_store() && group.used() != all);
  const bool has_masked = group.is_store() ? lanes.target.isLegalMaskedStore(type, llvm::Align(1), 0)
                                           : lanes.target.isLegalMaskedLoad(type, llvm::Align(1), 0);
  if (needs_mask && !has_masked) return false;
  if (!lanes.shape(address_of(member_at_place(group))).is_extended) return true;
  return llvm::all_of(group.members, [&](const Group::Member& one) {
    const llvm::Align alignment = llvm::getLoadStoreAlignment(one.access);
    return group.is_store() ? lanes.target.isLegalMaskedScatter(widened(type_of(one)), alignment)
                            : can_gather(lanes, type_of(one), alignment);
  });
}

void widen_group(Lanes& lanes, const Group& group) {
  for (const Group::Member& member : group.members) lanes.accesses[member.access] = Access::Structures;
  if (group.is_store())
    store_group(lanes, group);
  else
    load_group(lanes, group);
}

}  // namespace cupola::cpu::build
