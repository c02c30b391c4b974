#pragma once

#include "texels.h"

// Cubes of textures: "CUDA C++ Programming Guide, Cubemap Textures" has the table of faces. A face has axes s and t,
// and the axis m that it lies on; each is one of x, y and z or its negative. For directions between two faces GPUs
// decide.

namespace cupola::device {

/// A direction, or a change of one, in the axes of a face.
struct OnFace {
  float s, t, m;
};

LOCAL OnFace on_face(int face, float x, float y, float z) {
  switch (face) {
    case 0:
      return {-z, -y, x};
    case 1:
      return {z, -y, -x};
    case 2:
      return {x, z, y};
    case 3:
      return {x, -z, -y};
    case 4:
      return {x, -y, z};
    default:
      return {-x, -y, -z};
  }
}

/// The face that a direction points to.
LOCAL int face_of(float x, float y, float z) {
  const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  if (az >= ax && az >= ay) return z >= 0 ? 4 : 5;
  if (ay >= ax) return y >= 0 ? 2 : 3;
  return x >= 0 ? 0 : 1;
}

/// A texel of a face, by indices that may lie one outside: the same texel on the face that it lies on.
struct FaceTexel {
  int face, i, j;
};

/// One of i and j is outside. Twice the places of texels' centres are integers from 1 - n to n - 1; one outside is
/// n + 1 away, where the neighbour begins.
LOCAL FaceTexel across_edge(const FaceTexel& from, int n) {
  const int s = 2 * from.i + 1 - n, t = 2 * from.j + 1 - n, m = n - 1;
  int d[3];  // the inverse of on_face
  switch (from.face) {
    case 0:
      d[0] = m, d[1] = -t, d[2] = -s;
      break;
    case 1:
      d[0] = -m, d[1] = -t, d[2] = s;
      break;
    case 2:
      d[0] = s, d[1] = m, d[2] = t;
      break;
    case 3:
      d[0] = s, d[1] = -m, d[2] = -t;
      break;
    case 4:
      d[0] = s, d[1] = -t, d[2] = m;
      break;
    default:
      d[0] = -s, d[1] = -t, d[2] = -m;
      break;
  }
  int axis = 0;
  while (axis < 2 && d[axis] <= n && d[axis] >= -n) ++axis;
  const int face = 2 * axis + (d[axis] < 0);
  const OnFace there = on_face(face, (float)d[0], (float)d[1], (float)d[2]);
  return {face, ((int)there.s + n - 1) / 2, ((int)there.t + n - 1) / 2};
}

/// The texel of a cube, whose first face is at `slice`. Where three faces meet, the mean of their texels.
LOCAL Texel cube_texel(const Texture& t, const FaceTexel& at, int slice) {
  const int n = (int)t.width, i = resolved(at.i, t.width, Addressing::Clamp),
            j = resolved(at.j, t.width, Addressing::Clamp);
  if (i == at.i && j == at.j) return texel_at(t, i, j, slice + at.face);
  if (i == at.i || j == at.j) {
    const FaceTexel there = across_edge(at, n);
    return texel_at(t, there.i, there.j, slice + there.face);
  }
  const FaceTexel left = across_edge({at.face, at.i, j}, n), up = across_edge({at.face, i, at.j}, n);
  float sum[4] = {};
  accumulate(sum, 1.0f / 3, texel_at(t, i, j, slice + at.face));
  accumulate(sum, 1.0f / 3, texel_at(t, left.i, left.j, slice + left.face));
  accumulate(sum, 1.0f / 3, texel_at(t, up.i, up.j, slice + up.face));
  return texel_of(sum);
}

}  // namespace cupola::device
